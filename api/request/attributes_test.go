package request

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// newRequest returns a request for "METHOD PATH".
func newRequest(t *testing.T, line string) *http.Request {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	return httptest.NewRequestWithContext(t.Context(), method, path, nil)
}

func TestAuthorizationAttributes(t *testing.T) {
	type resource = authorizationv1.ResourceAttributes
	selects := func(raw string) *authorizationv1.FieldSelectorAttributes {
		return &authorizationv1.FieldSelectorAttributes{RawSelector: raw}
	}
	tests := map[string]any{
		"GET /":                            "get /",
		"HEAD /healthz":                    "head /healthz",
		"GET /api/v1":                      "get /api/v1",
		"GET /apis/apps/v1/":               "get /apis/apps/v1/",
		"POST /apis/apps":                  "post /apis/apps",
		"GET /api/v1/pods":                 resource{Verb: "list", Version: "v1", Resource: "pods"},
		"HEAD /api/v1/pods":                resource{Verb: "list", Version: "v1", Resource: "pods"},
		"GET /api/v1/pods?watch=true":      resource{Verb: "watch", Version: "v1", Resource: "pods"},
		"GET /api/v1/pods?watch=0":         resource{Verb: "list", Version: "v1", Resource: "pods"},
		"GET /api/v1/watch/pods":           resource{Verb: "watch", Version: "v1", Resource: "pods"},
		"GET /api/v1/namespaces/n":         resource{Verb: "get", Version: "v1", Resource: "namespaces", Namespace: "n", Name: "n"},
		"PUT /api/v1/namespaces/n/status":  resource{Verb: "update", Version: "v1", Resource: "namespaces", Subresource: "status", Namespace: "n", Name: "n"},
		"DELETE /api/v1/namespaces/n/pods": resource{Verb: "deletecollection", Version: "v1", Resource: "pods", Namespace: "n"},
		"PATCH /apis/apps/v1/namespaces/n/deployments/d/scale": resource{
			Verb: "patch", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "scale", Namespace: "n", Name: "d"},
		"POST /api/v1/namespaces/n/pods/p/exec":                            resource{Verb: "create", Version: "v1", Resource: "pods", Subresource: "exec", Namespace: "n", Name: "p"},
		"GET /apis/acme.io/v1/widgets":                                     resource{Verb: "list", Group: "acme.io", Version: "v1", Resource: "widgets"},
		"GET /api/v1/secrets?fieldSelector=metadata.name%3Da":              resource{Verb: "list", Version: "v1", Resource: "secrets", Name: "a", FieldSelector: selects("metadata.name=a")},
		"GET /api/v1/secrets?watch=1&fieldSelector=metadata.name%3Da":      resource{Verb: "watch", Version: "v1", Resource: "secrets", Name: "a", FieldSelector: selects("metadata.name=a")},
		"GET /api/v1/secrets?fieldSelector=metadata.name%21%3Da":           resource{Verb: "list", Version: "v1", Resource: "secrets", FieldSelector: selects("metadata.name!=a")},
		"GET /api/v1/secrets?fieldSelector=metadata.name%3Da%2Fb":          resource{Verb: "list", Version: "v1", Resource: "secrets", FieldSelector: selects("metadata.name=a/b")},
		"DELETE /api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Da": resource{Verb: "deletecollection", Version: "v1", Resource: "pods", Namespace: "n", FieldSelector: selects("metadata.name=a")},
	}
	for line, want := range tests {
		attributes := AuthorizationAttributes(newRequest(t, line))
		var got any
		if attributes.Resource != nil {
			got = *attributes.Resource
		} else {
			got = attributes.NonResource.Verb + " " + attributes.NonResource.Path
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}
