package encoding

import (
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

const tableV1 = "application/json;as=Table;v=v1;g=meta.k8s.io"

func TestNegotiate(t *testing.T) {
	c := NewCodec(Config{Scheme: runtime.NewScheme()})
	tests := []struct {
		name, accept, agent, query string
		allowed                    Restriction
		media, kind                string // media "": not acceptable
		pretty                     bool
	}{
		{name: "JSON without an Accept header", media: "application/json"},
		{name: "the first clause of equal weight", accept: "application/yaml, application/json", media: "application/yaml"},
		{name: "the clause of the highest weight", accept: "application/yaml;q=0.1, application/vnd.kubernetes.protobuf", media: "application/vnd.kubernetes.protobuf"},
		{name: "JSON for any media type", accept: "*/*", media: "application/json"},
		{name: "JSON for any application type", accept: "application/*", media: "application/json"},
		{name: "an unknown media type is skipped", accept: "text/html, application/yaml", media: "application/yaml"},
		{name: "only unknown media types", accept: "text/html"},
		{name: "a Table", accept: tableV1, allowed: WithColumns, media: "application/json", kind: "Table"},
		{name: "kubectl falls back to JSON", accept: tableV1 + ",application/json", allowed: NoTransformation, media: "application/json"},
		{name: "no Table without columns", accept: tableV1, allowed: WithoutColumns},
		{name: "no Table in protobuf", accept: "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", allowed: WithColumns},
		{name: "metadata in protobuf", accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
			allowed: WithColumns, media: "application/vnd.kubernetes.protobuf", kind: "PartialObjectMetadata"},
		{name: "a Table of an unknown version", accept: "application/json;as=Table;v=v9;g=meta.k8s.io", allowed: WithColumns},
		{name: "an unknown transformation", accept: "application/json;as=Poem;v=v1;g=meta.k8s.io", allowed: WithColumns},
		{name: "a watch in YAML", accept: "application/yaml;stream=watch"},
		{name: "a watch", accept: "application/json;stream=watch", media: "application/json"},
		{name: "pretty by parameter", accept: "application/json;pretty=1", media: "application/json", pretty: true},
		{name: "pretty by query", query: "?pretty=true", media: "application/json", pretty: true},
		{name: "pretty for curl", agent: "curl/8.0", media: "application/json", pretty: true},
		{name: "pretty for a browser", agent: "Mozilla/5.0 (X11)", media: "application/json", pretty: true},
		{name: "not pretty for curl by query", agent: "curl/8.0", query: "?pretty=0", media: "application/json"},
		{name: "not pretty for kubectl", agent: "kubectl/v1.36", media: "application/json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/"+test.query, nil)
			r.Header.Set("Accept", test.accept)
			r.Header.Set("User-Agent", test.agent)
			if test.allowed == nil {
				test.allowed = NoTransformation
			}
			f, err := c.Negotiate(r, test.allowed)
			if test.media == "" {
				if err == nil {
					t.Fatalf("got %s", f.MediaType.Type)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if f.MediaType.Type != test.media || f.As.Kind != test.kind || f.Pretty != test.pretty {
				t.Errorf("got %s as %q, pretty %v", f.MediaType.Type, f.As.Kind, f.Pretty)
			}
		})
	}
}

// Negotiate returns an allowed format or an error.
func FuzzNegotiate(f *testing.F) {
	f.Add(tableV1)
	f.Add("application/json;q=0.5, */*;q=0.1")
	f.Add("application/json;stream=;sv=;as=")
	c := NewCodec(Config{Scheme: runtime.NewScheme()})
	r := httptest.NewRequest("GET", "/", nil)
	f.Fuzz(func(t *testing.T, accept string) {
		r.Header.Set("Accept", accept)
		got, err := c.Negotiate(r, WithColumns)
		if (err == nil) == (got.MediaType == nil) {
			t.Fatalf("%q: %v and %v", accept, got.MediaType, err)
		}
		if err == nil && !WithColumns(got.MediaType, got.As) {
			t.Errorf("%q: a transformation that is not allowed: %v", accept, got.As)
		}
		if got, err := c.NegotiateWatch(r, WithColumns); err == nil && got.MediaType.frame == nil {
			t.Errorf("%q: a watch without frames: %s", accept, got.MediaType.Type)
		}
	})
}
