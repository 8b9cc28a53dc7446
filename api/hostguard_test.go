package api

import (
	"net/http"
	"strings"
	"testing"
)

// A web page that made a browser send the request shows in Host or in Origin.
func TestHostGuard(t *testing.T) {
	s := newStack(t, func(c *Config) { c.AllowedHosts = []string{"api.test"} })
	tests := []struct {
		name, header string
		status       int
	}{
		{"an address of loopback", "Host: 127.0.0.1:8080", http.StatusOK},
		{"the other one", "Host: [::1]:8080", http.StatusOK},
		{"localhost", "Host: localhost:8080", http.StatusOK},
		{"names below localhost", "Host: miniapi.localhost", http.StatusOK},
		{"case does not matter", "Host: LocalHost.", http.StatusOK},
		{"a name that was allowed", "Host: api.test:99", http.StatusOK},
		{"a rebound name", "Host: evil.example", http.StatusForbidden},
		{"a name that only looks like localhost", "Host: localhost.evil.example", http.StatusForbidden},
		{"a foreign address", "Host: 192.0.2.1:8080", http.StatusForbidden},
		{"a page of our own", "Origin: http://localhost:3000", http.StatusOK},
		{"a page from elsewhere", "Origin: https://evil.example", http.StatusForbidden},
		{"a page from nowhere", "Origin: null", http.StatusForbidden},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := s.must(test.status, s.do("GET", "/api/v1/namespaces", "", test.header))
			if test.status == http.StatusForbidden && !strings.Contains(got.body, `"reason":"Forbidden"`) {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func TestHostGuardCanBeOpened(t *testing.T) {
	s := newStack(t, func(c *Config) { c.AllowedHosts = []string{"*"} })
	s.must(http.StatusOK, s.do("GET", "/api/v1/namespaces", "", "Host: anything.example"))
}
