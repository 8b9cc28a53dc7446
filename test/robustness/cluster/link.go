package cluster

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Link is a proxy of a TCP address. A blocked link forwards nothing, as if packets were lost: its
// connections stay open and silent until the link is restored, and are then closed. A link has one
// goroutine, and three for each connection.
type Link struct {
	listener net.Listener
	targets  []string // in turn
	turn     atomic.Int64
	// identify returns the peer behind a connection from the first bytes that it sends, "" if
	// they do not tell. Nil: all connections have the same peer.
	identify func([]byte) string
	running  sync.WaitGroup

	mu       sync.Mutex             // guards the fields below
	blocks   func(peer string) bool // nil: none
	restored chan struct{}          // closed when the link is restored
	conns    map[net.Conn]bool
}

func everything(string) bool { return true }

// newLink returns a link from an address to targets.
func newLink(address string, targets []string, identify func([]byte) string) (*Link, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	l := &Link{listener: listener, targets: targets, identify: identify, restored: make(chan struct{}), conns: map[net.Conn]bool{}}
	l.running.Go(l.accept) // ends when the listener is closed
	return l, nil
}

// URL returns the address of the link.
func (l *Link) URL() string { return "http://" + l.listener.Addr().String() }

// Block blocks the connections of the peers that blocks selects.
func (l *Link) Block(blocks func(peer string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks = blocks
}

// Restore ends a block.
func (l *Link) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks = nil
	close(l.restored)
	l.restored = make(chan struct{})
}

// Close closes the link and its connections.
func (l *Link) Close() {
	_ = l.listener.Close()
	l.Restore()
	l.mu.Lock()
	for conn := range l.conns {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
}

// blocked returns a channel that is closed at the end of the block of a peer, nil without a block.
func (l *Link) blocked(peer string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blocks == nil || !l.blocks(peer) {
		return nil
	}
	return l.restored
}

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.running.Go(func() { l.join(near) }) // ends with either side, or with a block
	}
}

// join copies data between both ends of a connection.
func (l *Link) join(near net.Conn) {
	defer l.track(near)()
	peer := ""
	from := bufio.NewReaderSize(near, 16<<10)
	if l.identify != nil {
		peer = l.identify(head(from))
	}
	if end := l.blocked(peer); end != nil {
		<-end
		return
	}
	far, err := l.dial()
	if err != nil {
		return
	}
	defer l.track(far)()
	var back sync.WaitGroup
	back.Go(func() { // ends when the connections are closed
		l.forward(near, far, peer)
		_ = near.Close()
	})
	l.forward(far, from, peer)
	_ = far.Close()
	back.Wait()
}

type reader interface{ Read([]byte) (int, error) }

// forward copies data until the end of the connection. After a block the data that was lost is
// missing, so the connection ends.
func (l *Link) forward(to net.Conn, from reader, peer string) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if end := l.blocked(peer); end != nil {
			<-end
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// track registers a connection for Close. The returned function closes and unregisters it.
func (l *Link) track(conn net.Conn) (end func()) {
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

// head returns the header of the HTTP request at the start of a connection, without consuming it.
func head(r *bufio.Reader) []byte {
	for n := 1; ; n++ {
		data, err := r.Peek(max(n, r.Buffered()))
		if bytes.Contains(data, []byte("\r\n\r\n")) || err != nil {
			return data
		}
		n = len(data)
	}
}

// etcdPeer returns the ID of the etcd member that has sent a request, as etcd writes it.
func etcdPeer(request []byte) string {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return ""
	}
	return req.Header.Get("X-Server-From")
}
