package recording

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/miniapi/miniapi/kinds"
)

// isRecorded reports whether a request is for objects. The documents about the API and the health
// checks are not recorded: they belong to a release, and clients cache them.
func isRecorded(r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.Header.Get("Upgrade") != "":
		return false
	case parts[0] == "api":
		return len(parts) > 2
	case parts[0] == "apis":
		return len(parts) > 3
	}
	return false
}

// isWatch reports whether a path with its query is a watch.
func isWatch(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	watch := u.Query().Get("watch")
	return watch == "true" || watch == "1" || strings.Contains(u.Path, "/v1/watch/")
}

var secretTarget = regexp.MustCompile(`^/api/v1(/watch)?(/namespaces/[^/?]+)?/secrets([/?]|$)`)

// isOfSecrets reports whether a path with its query is of Secrets.
func isOfSecrets(target string) bool { return secretTarget.MatchString(target) }

// timeoutParameter matches the time limit of a watch, which client-go chooses at random.
var timeoutParameter = regexp.MustCompile(`&timeoutSeconds=\d+|timeoutSeconds=\d+&?`)

// targetOf returns the path and the query of a request.
func targetOf(r *http.Request) string {
	target := r.URL.RequestURI()
	if isWatch(target) {
		target = strings.TrimRight(timeoutParameter.ReplaceAllString(target, ""), "?&")
	}
	return target
}

const (
	plainJSON = "application/json"
	protobuf  = "application/vnd.kubernetes.protobuf"
)

// readable removes the binary formats from an Accept header, so that answers are text.
func readable(accept string) string {
	kept := slices.DeleteFunc(strings.Split(accept, ","), func(media string) bool {
		return strings.Contains(media, protobuf) || strings.Contains(media, "application/cbor") || strings.TrimSpace(media) == ""
	})
	if len(kept) == 0 {
		return plainJSON
	}
	return strings.Join(kept, ",")
}

// headersOf returns the headers that affect the answer.
func headersOf(r *http.Request) map[string]string {
	headers := map[string]string{}
	for header, values := range r.Header {
		if strings.HasPrefix(header, "Impersonate-") {
			headers[header] = strings.Join(values, ",")
		}
	}
	if media, _, _ := strings.Cut(r.Header.Get("Accept"), ","); strings.Contains(media, ";") || strings.Contains(media, "yaml") {
		headers["Accept"] = r.Header.Get("Accept")
	}
	if media := r.Header.Get("Content-Type"); media != "" {
		headers["Content-Type"] = media
	}
	if agent, _, _ := strings.Cut(r.Header.Get("User-Agent"), "/"); agent != "" {
		headers["User-Agent"] = agent // the default field manager
	}
	if credentials := r.Header.Get("Authorization"); credentials != "" {
		headers["Authorization"] = credentials
	}
	return headers
}

// readableBody returns a body in protobuf as JSON, and another one as it is.
func readableBody(contentType string, body []byte) (string, any) {
	if !strings.HasPrefix(contentType, protobuf) {
		return contentType, decodeBody(contentType, body)
	}
	obj, err := runtime.Decode(serializer.NewCodecFactory(kinds.Scheme()).UniversalDeserializer(), body)
	if err != nil {
		return contentType, decodeBody(contentType, body)
	}
	text, err := utiljson.Marshal(obj)
	if err != nil {
		return contentType, decodeBody(contentType, body)
	}
	return plainJSON, decodeBody(plainJSON, text)
}
