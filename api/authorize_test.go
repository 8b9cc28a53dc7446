package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// denier lets nobody but root use a verb.
type denier struct {
	registry.AlwaysAllow
	verb string
}

func (d denier) Authorize(_ context.Context, a registry.Access) (registry.Decision, error) {
	return registry.Decision{Allowed: a.Resource.Verb != d.verb || a.User.Username == "root"}, nil
}

func TestForbidden(t *testing.T) {
	tests := []struct{ name, verb, method, path, want string }{
		{"in a namespace", "list", "GET", "/api/v1/namespaces/default/configmaps",
			`configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"`},
		{"everywhere", "list", "GET", "/apis/apps/v1/deployments",
			`deployments.apps is forbidden: User \"jane\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope`},
		{"a watch is no list", "watch", "GET", "/api/v1/configmaps?watch=true",
			`configmaps is forbidden: User \"jane\" cannot watch resource \"configmaps\" in API group \"\" at the cluster scope`},
		{"a subresource", "create", "POST", "/api/v1/namespaces/default/pods/p/exec",
			`pods \"p\" is forbidden: User \"jane\" cannot create resource \"pods/exec\" in API group \"\" in the namespace \"default\"`},
		{"a namespace is in itself", "delete", "DELETE", "/api/v1/namespaces/default",
			`namespaces \"default\" is forbidden: User \"jane\" cannot delete resource \"namespaces\" in API group \"\" in the namespace \"default\"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newAuthorizedStack(t, denier{verb: test.verb}, func(c *Config) { c.User = userOfHeader })
			got := s.must(http.StatusForbidden, s.do(test.method, test.path, "", "User: jane"))
			if !strings.Contains(got.body, test.want) {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func userOfHeader(r *http.Request) (*authenticationv1.UserInfo, error) {
	return &authenticationv1.UserInfo{Username: cmp.Or(r.Header.Get("User"), "root")}, nil
}
