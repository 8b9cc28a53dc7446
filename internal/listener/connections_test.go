package listener

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

func TestDrainWaitsForRequestsInProgress(t *testing.T) {
	conns, pipes := newConnections(), make([]net.Conn, 3)
	for i := range pipes {
		pipes[i], _ = net.Pipe()
		conns.track(pipes[i], http.StateNew)
	}
	conns.drain(t.Context())
	if conns.busy() {
		t.Error("new connections count as busy")
	}
	for _, conn := range pipes[1:] {
		conns.track(conn, http.StateActive)
	}
	if !conns.busy() {
		t.Error("active connections do not count as busy")
	}
	var transitions sync.WaitGroup
	transitions.Go(func() { conns.track(pipes[1], http.StateIdle) })
	transitions.Go(func() { conns.track(pipes[2], http.StateClosed) })
	conns.drain(t.Context())
	transitions.Wait()
	if conns.busy() {
		t.Error("idle and closed connections count as busy")
	}
}

func TestDrainEndsWithItsContext(t *testing.T) {
	conns := newConnections()
	conn, _ := net.Pipe()
	conns.track(conn, http.StateActive)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	conns.drain(canceled)
}
