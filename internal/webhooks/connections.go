package webhooks

import (
	"context"
	"net"
	"sync"
	"time"
)

// connections are those to all webhooks. http.Transport alone would leave behind
// what it is still connecting to when it is closed.
type connections struct {
	dialer net.Dialer
	// ending is done when close is called, and ends what is being dialled.
	ending context.Context
	end    context.CancelFunc

	mu   sync.Mutex // guards open
	open map[*connection]struct{}
}

// connection leaves its set when it is closed.
type connection struct {
	net.Conn
	of *connections
}

func newConnections() *connections {
	c := &connections{
		dialer: net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second},
		open:   map[*connection]struct{}{},
	}
	c.ending, c.end = context.WithCancel(context.Background())
	return c
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ending, cancel)()
	conn, err := c.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	made := &connection{Conn: conn, of: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ending.Err(); err != nil {
		conn.Close()
		return nil, err
	}
	c.open[made] = struct{}{}
	return made, nil
}

// dialService dials a Service, wherever it is at that time.
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
	c.end()
	c.mu.Lock()
	left := c.open
	c.open = map[*connection]struct{}{}
	c.mu.Unlock()
	for conn := range left {
		conn.Conn.Close()
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
