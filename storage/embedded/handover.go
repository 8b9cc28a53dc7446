package embedded

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
)

// preface is what every HTTP/2 connection begins with. net/http takes its first
// line for a request with the method PRI, and leaves it to the handler.
const preface = "PRI * HTTP/2.0\r\n\r\n"

// handover lets HTTP/1 and gRPC share a port: it is the handler of an HTTP
// server and the listener of a gRPC server, which gets the connections that
// begin as HTTP/2. Through its own handler gRPC would be at half the speed.
type handover struct {
	pages http.Handler // for HTTP/1
	addr  net.Addr
	conns chan net.Conn
	open  context.Context // until Close, which is cancel
	close context.CancelFunc
}

func newHandover(addr net.Addr, pages http.Handler) *handover {
	h := &handover{pages: pages, addr: addr, conns: make(chan net.Conn)}
	h.open, h.close = context.WithCancel(context.Background())
	return h
}

// ServeHTTP implements http.Handler.
func (h *handover) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != "PRI" || r.ProtoMajor != 2 {
		h.pages.ServeHTTP(w, r)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the connection has broken
	}
	begin := io.MultiReader(
		strings.NewReader(preface),
		io.LimitReader(buffered, int64(buffered.Reader.Buffered())), conn)
	// gRPC's Stop would wait minutes for a client that says no more than this.
	forget := context.AfterFunc(h.open, func() { _ = conn.Close() })
	select {
	case h.conns <- begunConn{conn, begin, forget}:
	case <-h.open.Done():
	}
}

// Accept implements net.Listener.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.open.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It ends the connections too.
func (h *handover) Close() error {
	h.close()
	return nil
}

// Addr implements net.Listener.
func (h *handover) Addr() net.Addr { return h.addr }

// begunConn is a connection whose beginning has been read already.
type begunConn struct {
	net.Conn
	reader io.Reader
	forget func() bool // that the connection has to be closed
}

// Read implements net.Conn.
func (c begunConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// Close implements net.Conn.
func (c begunConn) Close() error {
	c.forget()
	return c.Conn.Close()
}
