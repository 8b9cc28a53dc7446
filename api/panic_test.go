package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// A panic costs its own request a 500 and nobody anything else.
func TestPanicIsAnswered(t *testing.T) {
	s := newStack(t, func(c *Config) {
		c.User = func(r *http.Request) (*authenticationv1.UserInfo, error) {
			if r.Header.Get("Boom") != "" {
				panic("boom")
			}
			return localAdministrator(r)
		}
	})
	got := s.must(http.StatusInternalServerError, s.do("GET", "/api/v1/pods", "", "Boom: yes"))
	for _, want := range []string{`"kind":"Status"`, `"reason":"InternalError"`, panicText} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	if strings.Contains(got.body, "boom") {
		t.Errorf("the client sees the panic: %s", got.body)
	}
	if n := strings.Count(s.logs.String(), "boom"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.logs)
	}
	if !strings.Contains(s.logs.String(), "panic_test.go") {
		t.Errorf("no stack in the log:\n%s", s.logs)
	}
	s.must(http.StatusOK, s.do("GET", "/api/v1/pods", ""))
}

// Who cannot be told who they are is refused.
func TestUnknownUserIsRefused(t *testing.T) {
	s := newStack(t, func(c *Config) {
		c.User = func(r *http.Request) (*authenticationv1.UserInfo, error) {
			if r.Header.Get("Authorization") != "" {
				return nil, errors.New("this token is a secret")
			}
			return localAdministrator(r)
		}
	})
	got := s.must(http.StatusUnauthorized, s.do("GET", "/api/v1/pods", "", "Authorization: Bearer wrong"))
	if !strings.Contains(got.body, `"message":"Unauthorized","reason":"Unauthorized"`) || strings.Contains(got.body, "secret") {
		t.Errorf("got %s", got.body)
	}
}
