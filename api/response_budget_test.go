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
	server := httptest.NewUnstartedServer(s.Handler())
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew { // unread responses stop early
			_ = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	server.Start()
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

// A client that does not read its list costs a buffer. 12 complete lists would be 180 MB.
func TestUnreadListsAreStreamed(t *testing.T) {
	const clients, limit = 12, 40 << 20
	_, server := startPodServer(t, 1500, nil)
	unread(t, server, pods, "application/json") // encodes the pods
	for name, accept := range map[string]string{
		"indented JSON": "application/json;pretty=1",
		"YAML":          "application/yaml",
		"a Table":       "application/json;as=Table;g=meta.k8s.io;v=v1;pretty=1",
	} {
		t.Run(name, func(t *testing.T) {
			before := heapSize()
			for range clients {
				if res, _ := unread(t, server, pods+"?includeObject=Object", accept); res.StatusCode != http.StatusOK {
					t.Fatalf("got %s", res.Status)
				}
			}
			if grown := int64(heapSize()) - int64(before); grown > limit {
				t.Errorf("%d unread lists take %d MB, want at most %d", clients, grown>>20, limit>>20)
			}
		})
	}
}

// The conversion of lists to YAML takes memory, which counts until the client has read the list or
// disconnected.
func TestUnreadResponsesAreBounded(t *testing.T) {
	const yaml = "application/yaml"
	s, server := startPodServer(t, 2500, func(c *Config) { c.Memory.Bytes = 1 << 20 })
	first, hangUp := unread(t, server, pods, yaml)
	if first.StatusCode != http.StatusOK {
		t.Fatalf("the first list: %s", first.Status)
	}
	if second, _ := unread(t, server, pods, yaml); second.StatusCode != http.StatusTooManyRequests || second.Header.Get("Retry-After") != "1" {
		t.Errorf("beside an unread list: %s", second.Status)
	}
	if err := hangUp(); err != nil {
		t.Fatal(err)
	}
	if err := s.AwaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third, _ := unread(t, server, pods, yaml); third.StatusCode != http.StatusOK {
		t.Errorf("after the client disconnected: %s", third.Status)
	}
}

// One unread list leaves memory for the lists of other clients, whatever its format is.
func TestUnreadListsLeaveMemory(t *testing.T) {
	formats := []string{"application/yaml", "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json", "application/vnd.kubernetes.protobuf"}
	_, server := startPodServer(t, 2500, func(c *Config) { c.Memory.Bytes = 10 << 20 })
	for _, accept := range formats {
		if res, _ := unread(t, server, pods+"?includeObject=Object", accept); res.StatusCode != http.StatusOK {
			t.Errorf("%s beside unread lists: %s", accept, res.Status)
		}
	}
}
