package miniapi

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// lastBytes is how long a connection may take to send what the handler of its
// last request left to send.
const lastBytes = 100 * time.Millisecond

// connections knows which connections are in the middle of a request. A handler
// that has returned is not the end of it: the last bytes of its answer are on
// their way then, and a connection closed now would break them off.
type connections struct {
	mu     sync.Mutex // guards active
	active map[net.Conn]struct{}
	// quiet is signalled when active becomes empty.
	quiet chan struct{}
}

func newConnections() *connections {
	return &connections{active: map[net.Conn]struct{}{}, quiet: make(chan struct{}, 1)}
}

// track is a hook of http.Server.
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
		case c.quiet <- struct{}{}:
		default:
		}
	}
}

// drain waits until no connection is in the middle of a request, for lastBytes
// at most: one that has sent half a request may never send the rest.
func (c *connections) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastBytes)
	defer cancel()
	for c.busy() {
		select {
		case <-c.quiet:
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
