package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// remote returns a server whose clients seem to be on another host.
func (s *testServer) remote() *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = "192.0.2.1:4000"
		s.api.Handler().ServeHTTP(w, r)
	}))
	s.t.Cleanup(server.Close)
	return server
}

const watchList = "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"

func TestWatchListsAreCompressed(t *testing.T) {
	on := func(c *Config) { c.WatchListCompression = true }
	for _, tc := range []struct {
		name, query, accept string
		configure           func(*Config)
		compressed          bool
	}{
		{"a watch list", watchList, "gzip", on, true},
		{"without the gate", watchList, "gzip", nil, false},
		{"without Accept-Encoding", watchList, "identity", on, false},
		{"a watch without a resourceVersion", "?watch=1&allowWatchBookmarks=true", "gzip", on, true},
		{"a watch from a resourceVersion", "?watch=1&allowWatchBookmarks=true&resourceVersion=1", "gzip", on, false},
		{"initial events without bookmarks", "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "gzip", on, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTestServer(t, tc.configure)
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.remote().URL+configMaps+tc.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", tc.accept)
			response, err := s.client.Transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			if got := response.Header.Get("Content-Encoding") == "gzip"; got != tc.compressed || got != (response.Header.Get("Vary") == "Accept-Encoding") {
				t.Errorf("the headers are %v", response.Header)
			}
		})
	}
}

// Each event reaches the client when it happens, although the connection stays open.
func TestCompressedEventsAreFlushed(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.WatchListCompression = true })
	s.configMap("a", "x")
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.remote().URL+configMaps+watchList, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.client.Transport.RoundTrip(r) // accepts and decodes gzip
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if !response.Uncompressed {
		t.Fatalf("the headers are %v", response.Header)
	}
	events := json.NewDecoder(response.Body)
	want := func(eventType, name string) {
		t.Helper()
		var event struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := events.Decode(&event); err != nil || event.Type != eventType || event.Object.Name != name {
			t.Fatalf("the event is %s of %q, %v", event.Type, event.Object.Name, err)
		}
	}
	want("ADDED", "a")
	want("BOOKMARK", "")
	for _, name := range []string{"b", "c"} {
		s.configMap(name, "x")
		want("ADDED", name)
	}
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(io.MultiReader(events.Buffered(), response.Body)); err != nil || len(rest) > 1 {
		t.Errorf("the stream ends with %q, %v", rest, err)
	}
}
