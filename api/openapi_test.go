package api

import (
	"net/http"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

func TestOpenAPIIndex(t *testing.T) {
	s := newStorelessServer(t, nil)
	r := s.must(http.StatusOK, s.do("GET", "/openapi/v3", ""))
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	parseJSON(t, r.body, &index)
	s.must(http.StatusNotModified, s.do("GET", "/openapi/v3", "", "If-None-Match: "+r.header.Get("ETag")))

	link := index.Paths["apis/apps/v1"].ServerRelativeURL
	document := s.must(http.StatusOK, s.do("GET", link, ""))
	if got := document.header.Get("Cache-Control"); got != "public, immutable" {
		t.Errorf("a document with a hash in its URL has Cache-Control %q", got)
	}
	if document.header.Get("Expires") == "" || document.header.Get("Content-Type") != "application/json" {
		t.Errorf("header is %v", document.header)
	}
	s.must(http.StatusNotModified, s.do("GET", "/openapi/v3/apis/apps/v1", "", "If-None-Match: "+document.header.Get("ETag")))
	if got := s.must(http.StatusOK, s.do("GET", "/openapi/v3/apis/apps/v1", "")).header.Get("Cache-Control"); got != "no-cache, private" {
		t.Errorf("a document without a hash in its URL has Cache-Control %q", got)
	}

	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	stale := s.must(http.StatusMovedPermanently, s.do("GET", "/openapi/v3/apis/apps/v1?hash=OLD", ""))
	if got := stale.header.Get("Location"); got != link {
		t.Errorf("a URL with an old hash redirects to %s, want %s", got, link)
	}
	s.must(http.StatusNotFound, s.do("GET", "/openapi/v3/apis/nope/v1", ""))
}

func TestOpenAPIInProtobuf(t *testing.T) {
	s := newStorelessServer(t, nil)
	for name, tc := range map[string]struct {
		path, accept, answer string
		message              proto.Message
	}{
		"version 2":                 {"/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", &openapi_v2.Document{}},
		"version 2 for old kubectl": {"/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", &openapi_v2.Document{}},
		"version 3":                 {"/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf", &openapi_v3.Document{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.must(http.StatusOK, s.do("GET", tc.path, "", "Accept: "+tc.accept))
			if got := r.header.Get("Content-Type"); got != tc.answer {
				t.Errorf("Content-Type is %s, want %s", got, tc.answer)
			}
			if err := proto.Unmarshal([]byte(r.body), tc.message); err != nil {
				t.Fatal(err)
			}
			paths := tc.message.ProtoReflect().Get(tc.message.ProtoReflect().Descriptor().Fields().ByName("paths"))
			if !strings.Contains(paths.Message().Interface().(interface{ String() string }).String(), "/api/v1/namespaces/{namespace}/pods/{name}") {
				t.Error("the document does not contain pods")
			}
		})
	}
	s.must(http.StatusNotAcceptable, s.do("GET", "/openapi/v2", "", "Accept: text/html"))
}

// The index contains the OpenID documents if the server publishes them.
func TestOpenIDInOpenAPIIndex(t *testing.T) {
	for _, documents := range []OpenID{nil, noDocuments{}} {
		s := newStorelessServer(t, func(c *Config) { c.OpenID = documents })
		index := s.must(http.StatusOK, s.do("GET", "/openapi/v3", "")).body
		if got := strings.Contains(index, `"openid/v1/jwks"`); got != (documents != nil) {
			t.Errorf("Config.OpenID is %v, and the index contains the keys: %t", documents, got)
		}
	}
}

type noDocuments struct{}

func (noDocuments) Configuration() ([]byte, error) { return nil, nil }
func (noDocuments) Keys() ([]byte, error)          { return nil, nil }
