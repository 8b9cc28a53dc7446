package api

import (
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

const tableV1 = "application/json;as=Table;v=v1;g=meta.k8s.io"

func TestNegotiate(t *testing.T) {
	c := newCodec(runtime.NewScheme())
	tests := []struct {
		name, accept, agent, query string
		allowed                    restriction
		media, kind                string // media "": not acceptable
		pretty                     bool
	}{
		{name: "JSON is what clients get who do not ask", media: "application/json"},
		{name: "the first of equals counts", accept: "application/yaml, application/json", media: "application/yaml"},
		{name: "weights count", accept: "application/yaml;q=0.1, application/vnd.kubernetes.protobuf", media: "application/vnd.kubernetes.protobuf"},
		{name: "anything is JSON", accept: "*/*", media: "application/json"},
		{name: "any application type is JSON", accept: "application/*", media: "application/json"},
		{name: "what is not known is skipped", accept: "text/html, application/yaml", media: "application/yaml"},
		{name: "nothing is known", accept: "text/html"},
		{name: "a Table", accept: tableV1, allowed: ofResources, media: "application/json", kind: "Table"},
		{name: "kubectl's list of wishes", accept: tableV1 + ",application/json", allowed: noTransformation, media: "application/json"},
		{name: "no Table of what has no columns", accept: tableV1, allowed: withoutColumns},
		{name: "no Table in protobuf", accept: "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", allowed: ofResources},
		{name: "metadata in protobuf", accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
			allowed: ofResources, media: "application/vnd.kubernetes.protobuf", kind: "PartialObjectMetadata"},
		{name: "a Table of an unknown version", accept: "application/json;as=Table;v=v9;g=meta.k8s.io", allowed: ofResources},
		{name: "an unknown transformation", accept: "application/json;as=Poem;v=v1;g=meta.k8s.io", allowed: ofResources},
		{name: "a stream of what cannot be streamed", accept: "application/yaml;stream=watch"},
		{name: "a stream", accept: "application/json;stream=watch", media: "application/json"},
		{name: "pretty by parameter", accept: "application/json;pretty=1", media: "application/json", pretty: true},
		{name: "pretty by query", query: "?pretty=true", media: "application/json", pretty: true},
		{name: "pretty for curl", agent: "curl/8.0", media: "application/json", pretty: true},
		{name: "pretty for a browser", agent: "Mozilla/5.0 (X11)", media: "application/json", pretty: true},
		{name: "not pretty if a human says so", agent: "curl/8.0", query: "?pretty=0", media: "application/json"},
		{name: "not pretty for kubectl", agent: "kubectl/v1.36", media: "application/json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/"+test.query, nil)
			r.Header.Set("Accept", test.accept)
			r.Header.Set("User-Agent", test.agent)
			if test.allowed == nil {
				test.allowed = noTransformation
			}
			f, err := c.negotiate(r, test.allowed)
			if test.media == "" {
				if err == nil {
					t.Fatalf("got %s", f.media.Type)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if f.media.Type != test.media || f.as.Kind != test.kind || f.pretty != test.pretty {
				t.Errorf("got %s as %q, pretty %v", f.media.Type, f.as.Kind, f.pretty)
			}
		})
	}
}

// Whatever a client accepts, it gets something that it asked for or an error.
func FuzzNegotiate(f *testing.F) {
	f.Add(tableV1)
	f.Add("application/json;q=0.5, */*;q=0.1")
	f.Add("application/json;stream=;sv=;as=")
	c := newCodec(runtime.NewScheme())
	f.Fuzz(func(t *testing.T, accept string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		got, err := c.negotiate(r, ofResources)
		if (err == nil) == (got.media == nil) {
			t.Fatalf("%q: %v and %v", accept, got.media, err)
		}
		if err == nil && !ofResources(got.media, got.as) {
			t.Errorf("%q: a transformation that cannot be done: %v", accept, got.as)
		}
		if got, err := c.negotiateStream(r, ofResources); err == nil && got.media.frame == nil {
			t.Errorf("%q: a stream without frames: %s", accept, got.media.Type)
		}
	})
}
