package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variableFields lists, by kind, the fields whose values differ between servers.
var variableFields = map[string][]string{
	// The recorder had another user name.
	"CertificateSigningRequest": {".spec.groups[]", ".spec.username", ".spec.uid"},
	// Random.
	"Service": {".spec.clusterIP", ".spec.clusterIPs[]", ".spec.ports[].nodePort"},
	// New in v1.37.
	"CSINode": {".status"},
}

// TestDefaultsOfMinimalObjects posts a minimal object of every kind and expects the
// defaults of kube-apiserver in the response.
func TestDefaultsOfMinimalObjects(t *testing.T) {
	r := newReplay(t, oldest)
	for _, c := range minimalObjects(t) {
		kind := c.Response["kind"].(string)
		t.Run(kind+"/"+c.name(), func(t *testing.T) {
			status, got := post(t, r.url+c.Path, c.Request)
			if status != c.Status {
				t.Fatalf("%d: %v", status, got)
			}
			want, got := plain(t, c.Response), plain(t, got)
			for _, object := range []any{want, got} { // TestReplay compares the managers
				delete(object.(map[string]any)["metadata"].(map[string]any), "managedFields")
			}
			m := &matcher{bound: bindings{}}
			m.match("body", want, got)
			for _, d := range m.found {
				if !slices.Contains(variableFields[kind], fieldOf(d.path)) {
					t.Error(d)
				}
			}
		})
	}
}

var (
	object = regexp.MustCompile(`^body(\.items\[\d+\])?`)
	index  = regexp.MustCompile(`\[\d+\]`)
)

// fieldOf returns the path of a field in the object of a response.
func fieldOf(path string) string {
	return index.ReplaceAllString(object.ReplaceAllString(path, ""), "[]")
}

type minimalObject struct {
	Path     string
	Request  json.RawMessage
	Status   int
	Response map[string]any
}

func (m minimalObject) name() string {
	return m.Response["metadata"].(map[string]any)["name"].(string)
}

func minimalObjects(t *testing.T) []minimalObject {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "kinds", "testdata", "create-minimal.json"))
	if err != nil {
		t.Fatal(err)
	}
	var objects []minimalObject
	if err := json.Unmarshal(data, &objects); err != nil {
		t.Fatal(err)
	}
	if len(objects) != 61 {
		t.Errorf("%d objects", len(objects))
	}
	return objects
}

func post(t *testing.T, url string, body []byte) (status int, object map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return resp.StatusCode, object
}

var stamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// plain returns an object without its resourceVersion, with placeholders for its uid and for
// all times.
func plain(t *testing.T, object map[string]any) (plain map[string]any) {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	uid := object["metadata"].(map[string]any)["uid"].(string)
	text := stamp.ReplaceAllString(strings.ReplaceAll(string(data), uid, "UID"), "TIME")
	if err := json.Unmarshal([]byte(text), &plain); err != nil {
		t.Fatal(err)
	}
	delete(plain["metadata"].(map[string]any), "resourceVersion")
	return plain
}
