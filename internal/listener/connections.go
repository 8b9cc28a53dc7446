package listener

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// connections tracks the connections that have a request in progress. A request is in progress
// until the last byte of its response is written, which is later than the return of its handler:
// a connection closed in between would cut the response short.
type connections struct {
	mu       sync.Mutex // guards the fields below
	open     map[net.Conn]*connection
	draining bool
	// changed receives a value when a connection becomes idle, closed or flushed.
	changed chan struct{}
}

// connection is the state of an open connection.
type connection struct {
	active bool // a request has begun, or is being received; guarded by connections.mu
	// handled is true from the call of the handler for a request in HTTP/1 on. A client that has
	// sent half a request may never send the rest.
	handled atomic.Bool
	// flushing is true while the end of the last response in HTTP/2 is buffered.
	flushing atomic.Bool
}

func newConnections() *connections {
	return &connections{open: map[net.Conn]*connection{}, changed: make(chan struct{}, 1)}
}

type connectionKey struct{}

// add is the ConnContext hook of http.Server.
func (c *connections) add(ctx context.Context, conn net.Conn) context.Context {
	added := &connection{}
	if secure, ok := conn.(*tls.Conn); ok {
		secure.NetConn().(*writer).connection = added
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = added
	return context.WithValue(ctx, connectionKey{}, added)
}

// track is the ConnState hook of http.Server.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tracked, ok := c.open[conn]
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		tracked.active = true
		return
	case http.StateIdle:
		// In HTTP/2 the end of the last response is still buffered. Without keep-alive, net/http
		// appends a GOAWAY frame and flushes the buffer.
		tracked.flushing.Store(c.draining && isHTTP2(conn))
		tracked.active = false
		tracked.handled.Store(false)
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
	c.signal()
}

func (c *connections) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// writer is a connection below TLS. It signals the write after the last response in HTTP/2.
type writer struct {
	net.Conn
	connections *connections
	connection  *connection
}

// Write implements net.Conn.
func (w *writer) Write(data []byte) (int, error) {
	n, err := w.Conn.Write(data)
	if w.connection.flushing.CompareAndSwap(true, false) {
		w.connections.signal()
	}
	return n, err
}

// writers is a listener whose connections are writers.
type writers struct {
	net.Listener
	connections *connections
}

// Accept implements net.Listener.
func (w writers) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &writer{Conn: conn, connections: w.connections}, nil
}

// handler marks the connections of requests that reach next.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 { // in HTTP/2, a connection is active only with a whole request
			r.Context().Value(connectionKey{}).(*connection).handled.Store(true)
		}
		next.ServeHTTP(w, r)
	})
}

// startDraining must be called before drain, and after keep-alive was disabled.
func (c *connections) startDraining() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
}

// drain waits until no request is in progress that has reached the handler.
func (c *connections) drain(ctx context.Context) error {
	for {
		left := c.inProgress()
		if left == 0 {
			return nil
		}
		select {
		case <-c.changed:
		case <-ctx.Done():
			return fmt.Errorf("connections with unsent responses: %d: %w", left, ctx.Err())
		}
	}
}

func (c *connections) inProgress() (count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn, tracked := range c.open {
		if tracked.active && (tracked.handled.Load() || isHTTP2(conn)) || tracked.flushing.Load() {
			count++
		}
	}
	return count
}

func isHTTP2(conn net.Conn) bool {
	secure, ok := conn.(*tls.Conn)
	return ok && secure.ConnectionState().NegotiatedProtocol == "h2"
}
