package embedded

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
)

// preface is the start of each HTTP/2 connection. net/http parses its first line as a request with
// the method PRI and passes it to the handler.
const preface = "PRI * HTTP/2.0\r\n\r\n"

// portMux shares a port between HTTP/1 and gRPC: it is the handler of an HTTP server, and the
// listener of a gRPC server, which accepts the connections that start as HTTP/2. gRPC's own
// ServeHTTP would be half as fast.
type portMux struct {
	pages http.Handler // for HTTP/1
	addr  net.Addr
	conns chan net.Conn
	open  context.Context // until Close, which calls close
	close context.CancelFunc
}

func newPortMux(addr net.Addr, pages http.Handler) *portMux {
	m := &portMux{pages: pages, addr: addr, conns: make(chan net.Conn)}
	m.open, m.close = context.WithCancel(context.Background())
	return m
}

// ServeHTTP implements http.Handler.
func (m *portMux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != "PRI" || r.ProtoMajor != 2 {
		m.pages.ServeHTTP(w, r)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the connection is broken
	}
	start := io.MultiReader(
		strings.NewReader(preface),
		io.LimitReader(buffered, int64(buffered.Reader.Buffered())), conn)
	// gRPC's Stop would wait minutes for a client that sends no more than the preface.
	release := context.AfterFunc(m.open, func() { _ = conn.Close() })
	select {
	case m.conns <- prefixedConn{conn, start, release}:
	case <-m.open.Done():
	}
}

// Accept implements net.Listener.
func (m *portMux) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.open.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It also closes the open connections.
func (m *portMux) Close() error {
	m.close()
	return nil
}

// Addr implements net.Listener.
func (m *portMux) Addr() net.Addr { return m.addr }

// prefixedConn is a connection of which the first bytes have been read already.
type prefixedConn struct {
	net.Conn
	reader  io.Reader
	release func() bool // cancels the close at the end of the mux
}

// Read implements net.Conn.
func (c prefixedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// Close implements net.Conn.
func (c prefixedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
