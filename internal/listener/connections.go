package listener

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// drainTimeout is how long a connection may take to send the rest of its last response.
const drainTimeout = 100 * time.Millisecond

// connections tracks the connections that have a request in progress. A request is in progress
// until the last byte of its response is written, which is later than the return of its handler:
// a connection closed in between would cut the response short.
type connections struct {
	mu     sync.Mutex // guards active
	active map[net.Conn]struct{}
	// idle receives a value when active becomes empty.
	idle chan struct{}
}

func newConnections() *connections {
	return &connections{active: map[net.Conn]struct{}{}, idle: make(chan struct{}, 1)}
}

// track is the ConnState hook of http.Server.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateActive {
		c.active[conn] = struct{}{}
		return
	}
	delete(c.active, conn)
	if len(c.active) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

// drain waits until no request is in progress. It gives up after drainTimeout, since a client that
// sent half a request may never send the rest.
func (c *connections) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	for c.busy() {
		select {
		case <-c.idle:
		case <-ctx.Done():
			return
		}
	}
}

func (c *connections) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.active) > 0
}
