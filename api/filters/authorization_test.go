package filters

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/registry"
)

func TestForbiddenRequests(t *testing.T) {
	authorizer := authorizerFunc(func(a registry.Access) (registry.Decision, error) {
		if a.Resource != nil && a.Resource.Resource == "nodes" {
			return registry.Decision{}, errors.New("roles are not available")
		}
		return registry.Decision{Reason: "no rules"}, nil
	})
	handler := chain(func(http.ResponseWriter, *http.Request) { t.Error("a forbidden request is handled") },
		WithRequestInfo(), WithAuthentication(userOfHeader, nil, Unauthorized(responder)), WithAuthorization(authorizer, responder))
	tests := []struct {
		name, request string
		status        int
		want          string
	}{
		{"in a namespace", "GET /api/v1/namespaces/default/configmaps", 403,
			`configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"`},
		{"in all namespaces", "GET /apis/apps/v1/deployments", 403,
			`deployments.apps is forbidden: User \"jane\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope`},
		{"a watch", "GET /api/v1/configmaps?watch=true", 403,
			`configmaps is forbidden: User \"jane\" cannot watch resource \"configmaps\" in API group \"\" at the cluster scope`},
		{"a subresource", "POST /api/v1/namespaces/default/pods/p/exec", 403,
			`pods \"p\" is forbidden: User \"jane\" cannot create resource \"pods/exec\" in API group \"\" in the namespace \"default\"`},
		{"a namespace is in itself", "DELETE /api/v1/namespaces/default", 403,
			`namespaces \"default\" is forbidden: User \"jane\" cannot delete resource \"namespaces\" in API group \"\" in the namespace \"default\"`},
		{"a resource that does not exist", "GET /apis/acme.io/v1/widgets", 403,
			`"message":"widgets.acme.io is forbidden: User \"jane\" cannot list resource \"widgets\" in API group \"acme.io\" at the cluster scope: no rules"`},
		{"a path that does not exist", "GET /nothing", 403, `"message":"forbidden: User \"jane\" cannot get path \"/nothing\": no rules"`},
		{"discovery", "GET /api", 403, `"message":"forbidden: User \"jane\" cannot get path \"/api\": no rules"`},
		{"markup in a name", "GET /api/v1/pods/%3Cb%3E", 403, `resource \"pods\"`},
		{"markup in a path", "GET /%3Cb%3E", 403, `path \"/&lt;b&gt;\"`},
		{"an error of the authorizer", "GET /api/v1/nodes", 500, `roles are not available`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := serve(handler, newRequest(t, test.request, "User: jane"))
			// JSON escapes the characters of HTML.
			body := strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(got.Body.String())
			if got.Code != test.status || !strings.Contains(body, test.want) {
				t.Errorf("got %d %s", got.Code, body)
			}
			if got.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers: %v", got.Header())
			}
		})
	}
}
