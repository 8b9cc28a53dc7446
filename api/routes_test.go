package api

import (
	"cmp"
	"context"
	"net/http"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// denyVerb denies a verb to all users except root.
type denyVerb struct {
	registry.AlwaysAllow
	verb string
}

// Authorize implements registry.Authorizer.
func (d denyVerb) Authorize(_ context.Context, a registry.Access) (registry.Decision, error) {
	return registry.Decision{Allowed: a.User.Username == "root" || a.Resource == nil || a.Resource.Verb != d.verb}, nil
}

// userOfHeader is an Authenticator: the header User names the user, whose default is root.
func userOfHeader(r *http.Request) (*authenticationv1.UserInfo, error) {
	return &authenticationv1.UserInfo{Username: cmp.Or(r.Header.Get("User"), "root")}, nil
}

// A forbidden request is answered with 403 whether the resource exists or not.
func TestRequestsAreAuthorizedBeforeDispatch(t *testing.T) {
	s := newAuthorizedTestServer(t, denyVerb{verb: "list"}, func(c *Config) { c.Authenticator = userOfHeader })
	const existing, missing = "/api/v1/configmaps", "/apis/acme.io/v1/widgets"
	s.must(http.StatusForbidden, s.do("GET", existing, "", "User: jane"))
	s.must(http.StatusForbidden, s.do("GET", missing, "", "User: jane"))
	s.must(http.StatusForbidden, s.do("GET", existing, "", "Impersonate-User: jane"))
	s.must(http.StatusOK, s.do("GET", existing, ""))
	s.must(http.StatusNotFound, s.do("GET", missing, ""))
}
