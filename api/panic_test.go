package api

import (
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// A panic is answered with a 500 and does not affect other requests.
func TestPanicRecovery(t *testing.T) {
	s := newTestServer(t, func(c *Config) {
		c.Authenticator = func(r *http.Request) (*authenticationv1.UserInfo, error) {
			if r.Header.Get("Boom") != "" {
				panic("boom")
			}
			return localAdministrator(r)
		}
	})
	got := s.must(http.StatusInternalServerError, s.do("GET", "/api/v1/pods", "", "Boom: yes"))
	for _, want := range []string{`"kind":"Status"`, `"reason":"InternalError"`, `the handler of this request panicked`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the response lacks %s: %s", want, got.body)
		}
	}
	if strings.Contains(got.body, "boom") {
		t.Errorf("the response contains the panic: %s", got.body)
	}
	if n := strings.Count(s.logs.String(), "boom"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.logs)
	}
	if !strings.Contains(s.logs.String(), "panic_test.go") {
		t.Errorf("the log lacks the stack:\n%s", s.logs)
	}
	s.must(http.StatusOK, s.do("GET", "/api/v1/pods", ""))
}
