package miniapi

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// A connection is waited for from the first byte of a request to the last one
// of the answer, and not while it is idle.
func TestConnectionsDrain(t *testing.T) {
	conns, given := newConnections(), make([]net.Conn, 3)
	for i := range given {
		given[i], _ = net.Pipe()
		conns.track(given[i], http.StateNew)
	}
	conns.drain(t.Context())
	if conns.busy() {
		t.Error("new connections are busy")
	}
	for _, conn := range given[1:] {
		conns.track(conn, http.StateActive)
	}
	if !conns.busy() {
		t.Error("connections in a request are not busy")
	}
	var ends sync.WaitGroup
	ends.Go(func() { conns.track(given[1], http.StateIdle) })
	ends.Go(func() { conns.track(given[2], http.StateClosed) })
	conns.drain(t.Context())
	ends.Wait()
	if conns.busy() {
		t.Error("idle and closed connections are busy")
	}
	conns.track(given[0], http.StateActive)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	conns.drain(ended) // returns
}
