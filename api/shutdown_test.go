package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// A shutdown ends the streams of watches and does not break their connections.
func TestShutdownEndsWatches(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "1")
	res := s.open("GET", "/api/v1/configmaps?watch=true", "")
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
}

// New requests are rejected with Retry-After, so that a load balancer sends the retry to another
// replica.
func TestShutdownRejectsRequests(t *testing.T) {
	s := newTestServer(t, nil)
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := s.must(http.StatusServiceUnavailable, s.do("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`))
	if got.header.Get("Retry-After") == "" || !strings.Contains(got.body, `"reason":"ServiceUnavailable"`) {
		t.Errorf("got %v %s", got.header, got.body)
	}
}

// A shutdown waits for the requests in flight until its context is done.
func TestShutdownWaitsForRequests(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := newTestServer(t, func(c *Config) {
		c.Authenticator = func(r *http.Request) (*authenticationv1.UserInfo, error) {
			if r.Header.Get("Wait") != "" {
				close(entered)
				<-release
			}
			return localAdministrator(r)
		}
	})
	answered := make(chan reply, 1)
	go func() {
		got, err := s.try("POST", "/api/v1/namespaces", `{"metadata":{"name":"late"}}`, "Wait: yes")
		if err != nil {
			t.Error(err)
		}
		answered <- got
	}()
	<-entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.api.Shutdown(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a shutdown with a canceled context returned %v", err)
	}
	for _, path := range []string{"/readyz", "/healthz", "/livez"} { // while the request is in flight
		if got := s.must(http.StatusServiceUnavailable, s.do("GET", path, "")); got.header.Get("Retry-After") == "" {
			t.Errorf("%s has no Retry-After: %s", path, got.body)
		}
	}
	close(release)
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(http.StatusCreated, <-answered)
}

// A shutdown does not wait for connections without a request, nor for watches whose clients do not
// read.
func TestShutdownDoesNotWaitForIdleConnections(t *testing.T) {
	s := newTestServer(t, nil)
	s.dial()
	stuck := s.dial()
	if _, err := io.WriteString(stuck, "GET /api/v1/configmaps?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if status, err := bufio.NewReaderSize(stuck, 16).ReadString('\n'); err != nil || !strings.Contains(status, "200") {
		t.Fatalf("watch: %q, %v", status, err)
	}
	for i := range 40 {
		s.configMap(strings.Repeat("x", i+1), strings.Repeat("v", 256<<10))
	}
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A shutdown closes the connections of clients that do not send their body or read their list.
func TestShutdownDoesNotWaitForSlowClients(t *testing.T) {
	s := newTestServer(t, nil)
	for i := range 20 {
		s.configMap(strings.Repeat("x", i+1), strings.Repeat("v", 512<<10))
	}
	const expect = " HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
	for request, begun := range map[string]string{
		"GET /api/v1/configmaps HTTP/1.1\r\nHost: localhost\r\n\r\n":                              "200 OK",
		"POST /api/v1/namespaces/default/configmaps" + expect + "Content-Length: 9\r\n\r\n{":      "100 Continue",
		"DELETE /api/v1/configmaps/x" + expect + "Transfer-Encoding: chunked\r\n\r\n5\r\n{":       "404 Not Found",
		"DELETE /api/v1/namespaces/default" + expect + "Transfer-Encoding: chunked\r\n\r\n5\r\n{": "100 Continue",
	} {
		slow := s.dial()
		if _, err := io.WriteString(slow, request); err != nil {
			t.Fatal(err)
		}
		if status, err := bufio.NewReaderSize(slow, 16).ReadString('\n'); err != nil || !strings.Contains(status, begun) {
			t.Fatalf("%q: %q, %v", request, status, err)
		}
	}
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}
