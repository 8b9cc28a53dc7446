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

// newPods serves n pods of about 5 KB.
func newPods(t *testing.T, n int, configure func(*Config)) (*Server, *httptest.Server) {
	t.Helper()
	s, _ := serverOf(t, n, configure)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return s, server
}

// unread sends a GET and returns when the answer has begun. The client takes no
// more than a few kilobytes of it.
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
	return res, conn.Close // the body's own Close would read it
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Clients that do not read cost the server a buffer each, not a list each: as a
// whole, 40 of them would be 600 MB.
func TestUnreadPrettyListsStayOutOfMemory(t *testing.T) {
	const clients, most = 40, 100 << 20
	_, server := newPods(t, 1500, nil)
	unread(t, server, pods, "application/json") // encodes the pods
	before := heap()
	for range clients {
		if res, _ := unread(t, server, pods+"?pretty=1", "application/json"); res.StatusCode != http.StatusOK {
			t.Fatalf("got %s", res.Status)
		}
	}
	if grown := int64(heap()) - int64(before); grown > most {
		t.Errorf("%d unread lists take %d MB, want at most %d", clients, grown>>20, most>>20)
	}
}

// Responses that exist as a whole are counted until their clients have read them or gone.
func TestUnreadResponsesAreBounded(t *testing.T) {
	const table, yaml = "application/json;as=Table;g=meta.k8s.io;v=v1", "application/yaml"
	s, server := newPods(t, 2500, func(c *Config) { c.MaxUnreadBytes = 15 << 20 })
	first, hangUp := unread(t, server, pods+"?pretty=1", table)
	if first.StatusCode != http.StatusOK {
		t.Fatalf("the only response, however large: %s", first.Status)
	}
	for _, accept := range []string{table, yaml} {
		second, _ := unread(t, server, pods, accept)
		if second.StatusCode != http.StatusTooManyRequests || second.Header.Get("Retry-After") != "1" {
			t.Errorf("%s beside an unread one: %s", accept, second.Status)
		}
	}
	if err := hangUp(); err != nil {
		t.Fatal(err)
	}
	if err := s.AwaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third, _ := unread(t, server, pods, table); third.StatusCode != http.StatusOK {
		t.Errorf("after its client has gone: %s", third.Status)
	}
}
