package api

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// A watch ends at its timeout with the end of the stream.
func TestWatchTimeout(t *testing.T) {
	s := newTestServer(t, nil)
	got := s.do("GET", "/api/v1/configmaps?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "")
	if got.status != 200 || got.body != "" {
		t.Errorf("got %d %q", got.status, got.body)
	}
}

// The error of a compacted resourceVersion is sent as an event.
func TestWatchOfCompactedVersion(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "1")
	s.configMap("b", "1")
	status, err := s.etcd.Get(t.Context(), "any")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.etcd.Compact(t.Context(), status.Header.Revision); err != nil {
		t.Fatal(err)
	}
	got := s.must(http.StatusOK, s.do("GET", "/api/v1/configmaps?watch=true&timeoutSeconds=600&resourceVersion=1", ""))
	for _, want := range []string{`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1"`, `"reason":"Expired"`, `"code":410`} {
		if !strings.Contains(got.body, want) || strings.Count(got.body, "\n") != 1 {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
}

// An event is sent as soon as it is ready.
func TestWatchSendsImmediately(t *testing.T) {
	s := newTestServer(t, nil)
	res := s.open("GET", "/api/v1/configmaps?watch=true", "")
	defer res.Body.Close()
	for i := range 3 {
		name := "a" + strconv.Itoa(i)
		s.configMap(name, "1")
		frame := make([]byte, 64<<10)
		n, err := res.Body.Read(frame)
		if err != nil || !strings.Contains(string(frame[:n]), `"name":"`+name+`"`) {
			t.Fatalf("got %q, %v", frame[:n], err)
		}
	}
}
