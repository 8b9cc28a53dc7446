package filters

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestHostGuard(t *testing.T) {
	handler := chain(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }, WithHostGuard(responder))
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	tests := []struct {
		name, header string
		status       int
	}{
		{"an IPv4 loopback address", "Host: 127.0.0.1:8080", http.StatusOK},
		{"the IPv6 loopback address", "Host: [::1]:8080", http.StatusOK},
		{"localhost", "Host: localhost:8080", http.StatusOK},
		{"a name below localhost", "Host: miniapi.localhost", http.StatusOK},
		{"case is ignored", "Host: LocalHost.", http.StatusOK},
		{"a name that was rebound", "Host: evil.example", http.StatusForbidden},
		{"a name that begins with localhost", "Host: localhost.evil.example", http.StatusForbidden},
		{"another address", "Host: 192.0.2.1:8080", http.StatusForbidden},
		{"a page of localhost", "Origin: http://localhost:3000", http.StatusOK},
		{"a page of another host", "Origin: https://evil.example", http.StatusForbidden},
		{"an opaque origin", "Origin: null", http.StatusForbidden},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRequest(t, "GET /api/v1/namespaces", "Host: localhost", test.header)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, loopback))
			got := serve(handler, r)
			if got.Code != test.status || test.status == http.StatusForbidden && !strings.Contains(got.Body.String(), `"reason":"Forbidden"`) {
				t.Errorf("got %d %s", got.Code, got.Body)
			}
		})
	}
	if got := serve(handler, newRequest(t, "GET /", "Host: evil.example")); got.Code != http.StatusOK {
		t.Errorf("a request to another interface: %d %s", got.Code, got.Body)
	}
}
