package webhooks

import (
	"context"
	"net"
	"sync"
	"time"
)

// connections is the set of connections to all webhooks. An http.Transport alone does not abort the
// connections that are being established when it is closed.
type connections struct {
	dialer net.Dialer
	// closing is done when close is called. It aborts dials.
	closing context.Context
	cancel  context.CancelFunc

	mu   sync.Mutex // guards open
	open map[*connection]struct{}
}

// connection removes itself from its set when it is closed.
type connection struct {
	net.Conn
	set *connections
}

func newConnections() *connections {
	c := &connections{
		dialer: net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second},
		open:   map[*connection]struct{}{},
	}
	c.closing, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.closing, cancel)()
	conn, err := c.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	wrapped := &connection{Conn: conn, set: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.closing.Err(); err != nil {
		conn.Close()
		return nil, err
	}
	c.open[wrapped] = struct{}{}
	return wrapped, nil
}

// dialService returns a function that resolves a Service and dials its address.
func (c *connections) dialService(resolve ResolveFunc, service Service) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		address, err := resolve(ctx, service)
		if err != nil {
			return nil, err
		}
		return c.dial(ctx, network, address)
	}
}

func (c *connections) close() {
	c.cancel()
	c.mu.Lock()
	open := c.open
	c.open = map[*connection]struct{}{}
	c.mu.Unlock()
	for conn := range open {
		conn.Conn.Close()
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.set.mu.Lock()
	delete(c.set.open, c)
	c.set.mu.Unlock()
	return c.Conn.Close()
}
