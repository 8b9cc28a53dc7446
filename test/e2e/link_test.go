package e2e_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// link is a proxy of a server whose connections can be cut. It runs one goroutine, and two for each
// connection.
type link struct {
	listener net.Listener
	to       string
	delay    time.Duration // of responses
	running  sync.WaitGroup

	mu    sync.Mutex // guards conns
	conns map[net.Conn]bool
}

// newLink returns a link to a URL. It ends with the test.
func newLink(t *testing.T, to string, delay time.Duration) *link {
	t.Helper()
	target, err := url.Parse(to)
	check(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	l := &link{listener: listener, to: target.Host, delay: delay, conns: map[net.Conn]bool{}}
	l.running.Go(l.accept) // ends when the listener is closed
	t.Cleanup(func() {
		check(t, listener.Close())
		l.cut()
		l.running.Wait()
	})
	return l
}

func (l *link) url() string { return "http://" + l.listener.Addr().String() }

// cut closes all connections. New connections can be opened.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		_ = conn.Close() // it may be closed already
	}
}

func (l *link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.running.Go(func() { l.join(near) }) // ends when either side does
	}
}

// join copies data between the two ends of a connection.
func (l *link) join(near net.Conn) {
	defer l.track(near)()
	far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.to)
	if err != nil {
		return
	}
	defer l.track(far)()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(late{near, l.delay}, far) // fails if the connection is cut
		_ = near.Close()
	})
	_, _ = io.Copy(far, near)
	_ = far.Close()
	back.Wait()
}

// late is a writer with a delay that simulates distance. No test depends on its duration.
type late struct {
	io.Writer
	delay time.Duration
}

// Write implements io.Writer.
func (w late) Write(data []byte) (int, error) {
	if w.delay > 0 {
		time.Sleep(w.delay)
	}
	return w.Writer.Write(data)
}

// track registers a connection for cut. The returned function closes and unregisters it.
func (l *link) track(conn net.Conn) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[conn] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, conn)
		_ = conn.Close()
	}
}
