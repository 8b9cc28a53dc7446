package filters

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

var responder = encoding.NewResponder(encoding.Config{Scheme: runtime.NewScheme()})

// newRequest returns a request for "METHOD PATH". A header is "Name: value".
func newRequest(t *testing.T, line string, headers ...string) *http.Request {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Add(name, value)
	}
	return r
}

// serve returns the response of a handler.
func serve(handler http.Handler, r *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder
}

// chain applies filters, outermost first.
func chain(handler http.HandlerFunc, filters ...Filter) http.Handler {
	var chained http.Handler = handler
	for i := range filters {
		chained = filters[len(filters)-1-i](chained)
	}
	return chained
}

// userOfHeader is the authenticator of WithAuthentication in tests: the header User names the
// user, whose default is root.
func userOfHeader(r *http.Request) (*authenticationv1.UserInfo, error) {
	return &authenticationv1.UserInfo{Username: cmp.Or(r.Header.Get("User"), "root")}, nil
}

// authorizerFunc decides on the requests of all users except root, who may do everything.
type authorizerFunc func(a registry.Access) (registry.Decision, error)

var _ registry.Authorizer = authorizerFunc(nil)

// Authorize implements registry.Authorizer.
func (f authorizerFunc) Authorize(_ context.Context, a registry.Access) (registry.Decision, error) {
	if a.User.Username == "root" {
		return registry.Decision{Allowed: true}, nil
	}
	return f(a)
}

// Rules implements registry.Authorizer.
func (authorizerFunc) Rules(context.Context, *authenticationv1.UserInfo, string) (registry.RuleSet, error) {
	return registry.RuleSet{}, nil
}
