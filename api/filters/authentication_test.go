package filters

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
)

func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	reject := func(*http.Request) (*authenticationv1.UserInfo, error) {
		return nil, errors.New("this token is a secret")
	}
	handler := chain(func(http.ResponseWriter, *http.Request) { t.Error("the request is handled") },
		WithAuthentication(reject, slog.New(slog.DiscardHandler), Unauthorized(responder)))
	got := serve(handler, newRequest(t, "GET /api/v1/pods", "Authorization: Bearer wrong"))
	body := got.Body.String()
	if got.Code != http.StatusUnauthorized || !strings.Contains(body, `"message":"Unauthorized","reason":"Unauthorized"`) || strings.Contains(body, "secret") {
		t.Errorf("got %d %s", got.Code, body)
	}
}

func TestConnectionsOfUnauthenticatedClientsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		user    *authenticationv1.UserInfo
		proto   int
		content int64
		want    string
	}{
		"a user":                       {&authenticationv1.UserInfo{Username: "jane", Groups: []string{"system:authenticated"}}, 2, 0, ""},
		"the anonymous user":           {&authenticationv1.UserInfo{Username: "system:anonymous"}, 2, 0, "close"},
		"an unauthenticated user":      {&authenticationv1.UserInfo{Username: "x", Groups: []string{"system:unauthenticated"}}, 2, 0, "close"},
		"no user":                      {nil, 2, 0, "close"},
		"the anonymous user, HTTP/1.1": {&authenticationv1.UserInfo{Username: "system:anonymous"}, 1, 0, ""},
		"a request with a body":        {nil, 2, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			authenticate := func(*http.Request) (*authenticationv1.UserInfo, error) { return tc.user, nil }
			handler := chain(func(http.ResponseWriter, *http.Request) {},
				WithAuthentication(authenticate, slog.New(slog.DiscardHandler), Unauthorized(responder)))
			r := newRequest(t, "GET /api/v1/pods")
			r.ProtoMajor, r.ContentLength = tc.proto, tc.content
			if got := serve(handler, r).Header().Get("Connection"); got != tc.want {
				t.Errorf("header Connection %q, want %q", got, tc.want)
			}
		})
	}
}
