package outgoing

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
)

// Dialer is the set of connections to other servers. An http.Transport alone does not abort the
// connections that are being established when it is closed. It is safe for concurrent use.
type Dialer struct {
	policy  *Policy
	proxyOf func(*http.Request) (*url.URL, error)
	// closing is done when Close is called. It aborts dials.
	closing context.Context
	cancel  context.CancelFunc

	mu   sync.Mutex // guards open
	open map[*connection]struct{}
}

// connection removes itself from its set when it is closed.
type connection struct {
	net.Conn
	set *Dialer
}

// NewDialer returns a dialer without connections, for the addresses that a policy allows.
func NewDialer(policy *Policy) *Dialer {
	d := &Dialer{policy: policy, proxyOf: http.ProxyFromEnvironment, open: map[*connection]struct{}{}}
	d.closing, d.cancel = context.WithCancel(context.Background())
	return d
}

// DialContext connects to an address. It returns an error after Close.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.closing, cancel)()
	conn, err := d.policy.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	wrapped := &connection{Conn: conn, set: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.closing.Err(); err != nil {
		conn.Close()
		return nil, err
	}
	d.open[wrapped] = struct{}{}
	return wrapped, nil
}

// Close closes all connections and aborts those being established.
func (d *Dialer) Close() {
	d.cancel()
	d.mu.Lock()
	open := d.open
	d.open = map[*connection]struct{}{}
	d.mu.Unlock()
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
