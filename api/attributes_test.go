package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/miniapi/miniapi/registry"
)

func newRequest(t *testing.T, what string) *http.Request {
	t.Helper()
	method, path, _ := strings.Cut(what, " ")
	return httptest.NewRequestWithContext(t.Context(), method, path, nil)
}

func record(handler http.Handler, r *http.Request) reply {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return reply{recorder.Code, recorder.Header(), recorder.Body.String()}
}

func TestWhatARequestWants(t *testing.T) {
	type resource = authorizationv1.ResourceAttributes
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
		"GET /api/v1/secrets?fieldSelector=metadata.name%3Da":              resource{Verb: "list", Version: "v1", Resource: "secrets", Name: "a"},
		"GET /api/v1/secrets?watch=1&fieldSelector=metadata.name%3Da":      resource{Verb: "watch", Version: "v1", Resource: "secrets", Name: "a"},
		"GET /api/v1/secrets?fieldSelector=metadata.name%21%3Da":           resource{Verb: "list", Version: "v1", Resource: "secrets"},
		"GET /api/v1/secrets?fieldSelector=metadata.name%3Da%2Fb":          resource{Verb: "list", Version: "v1", Resource: "secrets"},
		"DELETE /api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Da": resource{Verb: "deletecollection", Version: "v1", Resource: "pods", Namespace: "n"},
	}
	for what, want := range tests {
		access := accessOf(newRequest(t, what))
		var got any
		if access.Resource != nil {
			got = *access.Resource
		} else {
			got = access.NonResource.Verb + " " + access.NonResource.Path
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// nobody may do anything, and of nodes it cannot even be told.
type nobody struct{ registry.AlwaysAllow }

func (nobody) Authorize(_ context.Context, a registry.Access) (registry.Decision, error) {
	if a.User.Username == "root" {
		return registry.Decision{Allowed: true}, nil
	}
	if a.Resource != nil && a.Resource.Resource == "nodes" {
		return registry.Decision{}, errors.New("no roles at hand")
	}
	return registry.Decision{Reason: "no rules"}, nil
}

func TestRefusalsComeBeforeAnythingIsTold(t *testing.T) {
	s := newAuthorizedStack(t, nobody{}, func(c *Config) { c.User = userOfHeader })
	tests := []struct {
		name, path string
		status     int
		want       string
	}{
		{"a resource that does not exist", "/apis/acme.io/v1/widgets", 403,
			`"message":"widgets.acme.io is forbidden: User \"jane\" cannot list resource \"widgets\" in API group \"acme.io\" at the cluster scope: no rules"`},
		{"a path that does not exist", "/nothing", 403, `"message":"forbidden: User \"jane\" cannot get path \"/nothing\": no rules"`},
		{"discovery", "/api", 403, `"message":"forbidden: User \"jane\" cannot get path \"/api\": no rules"`},
		{"markup", "/api/v1/pods/%3Cb%3E", 403, `resource \"pods\"`},
		{"markup in a path", "/%3Cb%3E", 403, `path \"/&lt;b&gt;\"`},
		{"nobody can tell", "/api/v1/nodes", 500, `no roles at hand`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := s.must(test.status, s.do("GET", test.path, "", "User: jane"))
			// What is told is told in JSON, which escapes what HTML is made of.
			body := strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(got.body)
			if !strings.Contains(body, test.want) {
				t.Errorf("got %s", got.body)
			}
		})
	}
}
