package listener

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"
)

// maxStreams is the maximum number of requests at the same time on a connection in HTTP/2. Clients
// open a further connection for more. It is the number of kube-apiserver.
const maxStreams = 100

// Defaults of the fields of Config.
const (
	defaultHeaderTimeout = 32 * time.Second
	defaultIdleTimeout   = 90 * time.Second
)

// Config configures a Listener. At least one address must be set.
type Config struct {
	// Plain and Secure are HOST:PORT for HTTP and HTTPS; port 0 takes a free one. Empty: none.
	Plain, Secure string
	// HeaderTimeout is the time for the headers of a request. Default: 32 s.
	HeaderTimeout time.Duration
	// IdleTimeout is the time after which an idle connection is closed. Default: 90 s.
	IdleTimeout time.Duration
	// Logger takes the messages of net/http, such as failed TLS handshakes, at level debug.
	Logger *slog.Logger
}

// Listener holds the ports of a server. Safe for concurrent use.
type Listener struct {
	plain, secure net.Listener // nil if not configured
	http          *http.Server
	connections   *connections
}

// Open binds the ports. The caller must call Close.
func Open(ctx context.Context, config Config) (*Listener, error) {
	l := &Listener{connections: newConnections()}
	l.http = &http.Server{
		ConnContext:       l.connections.add,
		ConnState:         l.connections.track,
		ReadHeaderTimeout: cmp.Or(config.HeaderTimeout, defaultHeaderTimeout),
		IdleTimeout:       cmp.Or(config.IdleTimeout, defaultIdleTimeout),
		MaxHeaderBytes:    1 << 20,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
	}
	var err error
	if l.plain, err = listen(ctx, config.Plain, "--listen 127.0.0.1:0"); err != nil {
		return nil, err
	}
	if l.secure, err = listen(ctx, config.Secure, "--secure-port 0"); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// listen returns nil for an empty address. freePort is the flag that takes a free port.
func listen(ctx context.Context, address, freePort string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, AdviseInUse(err, freePort))
	}
	return listener, nil
}

// Serve answers requests on all ports until Close, which is no error. It is called once. config is
// for the secure port; its NextProtos must include h2 to serve HTTP/2.
func (l *Listener) Serve(handler http.Handler, config *tls.Config) error {
	l.http.Handler = l.connections.handler(handler)
	if config != nil {
		l.http.TLSConfig = config.Clone()
		l.http.TLSConfig.DynamicRecordSizingDisabled = true // one write for a flush: see writer
	}
	var group errgroup.Group
	if l.plain != nil {
		group.Go(func() error { return serveError(l.plain, l.http.Serve(l.plain)) })
	}
	if l.secure != nil {
		group.Go(func() error {
			return serveError(l.secure, l.http.ServeTLS(writers{l.secure, l.connections}, "", ""))
		})
	}
	return group.Wait()
}

func serveError(listener net.Listener, err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", listener.Addr(), err)
}

// DisableKeepAlive closes idle connections, and lets the others close after their responses. New
// connections are accepted.
func (l *Listener) DisableKeepAlive() {
	l.http.SetKeepAlivesEnabled(false)
	l.connections.startDraining()
}

// Drain waits until all responses have been sent. It is called after DisableKeepAlive, after the
// handlers have returned, and before Close. It returns an error if ctx ends first.
func (l *Listener) Drain(ctx context.Context) error { return l.connections.drain(ctx) }

// Close closes the ports and all connections. It can be called more than once.
func (l *Listener) Close() error {
	errs := []error{l.http.Close()}
	for _, listener := range []net.Listener{l.plain, l.secure} {
		if listener == nil {
			continue
		}
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Port returns the number of the secure port, or of the plain one if there is no secure port.
func (l *Listener) Port() int {
	if l.secure != nil {
		return portOf(l.secure)
	}
	return portOf(l.plain)
}

// SecureAddr returns the IP address of the secure port, an invalid one if there is no secure port.
func (l *Listener) SecureAddr() netip.Addr {
	if l.secure == nil {
		return netip.Addr{}
	}
	return l.secure.Addr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

// URL returns the address for clients: https if there is a secure port, else http.
func (l *Listener) URL() string {
	if l.secure != nil {
		return "https://" + reachable(l.secure)
	}
	return l.PlainURL()
}

// PlainURL returns the address of the plain port, "" if there is none.
func (l *Listener) PlainURL() string {
	if l.plain == nil {
		return ""
	}
	return "http://" + reachable(l.plain)
}

// reachable returns an address at which a client on this machine reaches the listener: loopback
// for one that listens on all addresses.
func reachable(listener net.Listener) string {
	addr := listener.Addr().(*net.TCPAddr).AddrPort()
	if addr.Addr().IsUnspecified() {
		addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), addr.Port())
	}
	return addr.String()
}
