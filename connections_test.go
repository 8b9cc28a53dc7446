package miniapi

import (
	"context"
	"io"
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

// However many watches there are, each ends as a stream does, not as a broken
// connection.
func TestStopEndsManyWatches(t *testing.T) {
	s, err := Start(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var streams sync.WaitGroup
	for range 100 {
		res, err := client.Get(s.URL() + "/api/v1/configmaps?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		streams.Go(func() {
			defer res.Body.Close()
			if _, err := io.ReadAll(res.Body); err != nil {
				t.Error(err)
			}
		})
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	streams.Wait()
}
