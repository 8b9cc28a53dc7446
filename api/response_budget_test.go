package api

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
)

const pods = "/api/v1/namespaces/default/pods"

// startPodServer starts a server with n pods of about 5 KB.
func startPodServer(t *testing.T, n int, configure func(*Config)) (*Server, *httptest.Server) {
	t.Helper()
	s, _ := newPodServer(t, n, configure)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return s, server
}

// unread sends a GET and returns when the response has begun. The client reads at most a few
// kilobytes of it.
func unread(t *testing.T, server *httptest.Server, path, accept string) (res *http.Response, hangUp func() error) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n\r\n", path, accept)
	res, err = http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res, conn.Close // closing the body would read it
}

// heapSize returns the size of the live heap in bytes.
func heapSize() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// A client that does not read its list costs a buffer. 40 complete lists would be 600 MB.
func TestUnreadPrettyListsAreStreamed(t *testing.T) {
	const clients, limit = 40, 100 << 20
	_, server := startPodServer(t, 1500, nil)
	unread(t, server, pods, "application/json") // encodes the pods
	before := heapSize()
	for range clients {
		if res, _ := unread(t, server, pods+"?pretty=1", "application/json"); res.StatusCode != http.StatusOK {
			t.Fatalf("got %s", res.Status)
		}
	}
	if grown := int64(heapSize()) - int64(before); grown > limit {
		t.Errorf("%d unread lists take %d MB, want at most %d", clients, grown>>20, limit>>20)
	}
}

// Responses that are built as a whole count until their clients have read them or disconnected.
func TestUnreadResponsesAreBounded(t *testing.T) {
	const table, yaml = "application/json;as=Table;g=meta.k8s.io;v=v1", "application/yaml"
	s, server := startPodServer(t, 2500, func(c *Config) { c.MaxUnreadBytes = 15 << 20 })
	first, hangUp := unread(t, server, pods+"?pretty=1", table)
	if first.StatusCode != http.StatusOK {
		t.Fatalf("a single response larger than the budget: %s", first.Status)
	}
	for _, accept := range []string{table, yaml} {
		second, _ := unread(t, server, pods, accept)
		if second.StatusCode != http.StatusTooManyRequests || second.Header.Get("Retry-After") != "1" {
			t.Errorf("%s beside an unread response: %s", accept, second.Status)
		}
	}
	if err := hangUp(); err != nil {
		t.Fatal(err)
	}
	if err := s.AwaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third, _ := unread(t, server, pods, table); third.StatusCode != http.StatusOK {
		t.Errorf("after the client disconnected: %s", third.Status)
	}
}
