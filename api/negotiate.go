package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// format is how a client wants an answer.
type format struct {
	media *media
	// as is what objects are turned into: a Table, PartialObjectMetadata(List),
	// or with an empty kind nothing.
	as     schema.GroupVersionKind
	pretty bool
}

// restriction tells which transformations an endpoint can do.
type restriction func(m *media, as schema.GroupVersionKind) bool

// noTransformation is the restriction of answers that are what they are.
func noTransformation(_ *media, as schema.GroupVersionKind) bool { return as.Empty() }

// ofResources is the restriction of endpoints that serve objects with columns.
func ofResources(m *media, as schema.GroupVersionKind) bool {
	switch {
	case as.Empty():
		return true
	case as.GroupVersion() != metav1.SchemeGroupVersion && as.GroupVersion() != metav1beta1.SchemeGroupVersion:
		return false
	case as.Kind == "Table":
		return m.tables
	}
	return as.Kind == "PartialObjectMetadata" || as.Kind == "PartialObjectMetadataList"
}

// withoutColumns is the restriction of endpoints whose objects have no columns.
func withoutColumns(m *media, as schema.GroupVersionKind) bool {
	return as.Kind != "Table" && ofResources(m, as)
}

// ofCustomResources is the restriction of objects that have no Go type, and so no
// protobuf.
func ofCustomResources(m *media, as schema.GroupVersionKind) bool {
	return ofResources(m, as) && (!as.Empty() || m.Type != runtime.ContentTypeProtobuf)
}

// negotiate chooses the format of an answer by the Accept header: the first
// clause, in the order of their weights, that can be met.
func (c *codec) negotiate(r *http.Request, allowed restriction) (format, error) {
	header := r.Header.Get("Accept")
	if header == "" {
		return format{media: &c.table[0], pretty: wantsPretty(r)}, nil
	}
	for _, clause := range goautoneg.ParseAccept(header) {
		for i := range c.table {
			m := &c.table[i]
			if !covers(clause, m.Type) {
				continue
			}
			if f, ok := formatOf(m, clause.Params, allowed); ok {
				f.pretty = f.pretty || wantsPretty(r)
				return f, nil
			}
		}
	}
	return format{}, notAcceptable(c.types())
}

// negotiateStream chooses the format of a watch.
func (c *codec) negotiateStream(r *http.Request, allowed restriction) (format, error) {
	f, err := c.negotiate(r, allowed)
	if err != nil || f.media.Stream == "" {
		return format{}, notAcceptable(c.streamTypes())
	}
	return f, nil
}

func covers(clause goautoneg.Accept, mediaType string) bool {
	main, sub, _ := strings.Cut(mediaType, "/")
	switch clause.SubType {
	case sub:
		return clause.Type == main
	case "*":
		return clause.Type == main || clause.Type == "*"
	}
	return false
}

// formatOf reads the parameters of a clause.
func formatOf(m *media, params map[string]string, allowed restriction) (format, bool) {
	f := format{media: m}
	for name, value := range params {
		switch name {
		case "as":
			f.as.Kind = value
		case "g":
			f.as.Group = value
		case "v":
			f.as.Version = value
		case "pretty":
			f.pretty = value == "1"
		case "stream":
			if value != "" && (m.Stream == "" || value != "watch") {
				return format{}, false
			}
		case "sv":
			if value != "" && value != metav1.SchemeGroupVersion.Version {
				return format{}, false
			}
		}
	}
	return f, allowed(m, f.as)
}

// wantsPretty finds clients behind which a human sits.
func wantsPretty(r *http.Request) bool {
	if value := r.URL.Query().Get("pretty"); value != "" {
		pretty, _ := strconv.ParseBool(value)
		return pretty
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}
