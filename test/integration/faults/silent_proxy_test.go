package faults_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// silentProxy forwards connections to an address. While it is silent, it accepts connections and
// data and forwards nothing.
type silentProxy struct {
	address, target string
	listener        net.Listener
	ctx             context.Context

	mu      sync.Mutex // guards resumed
	resumed chan struct{}
}

func newSilentProxy(t *testing.T, target string) *silentProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &silentProxy{address: listener.Addr().String(), target: target, listener: listener, ctx: ctx, resumed: make(chan struct{})}
	close(p.resumed)
	var running sync.WaitGroup
	running.Go(func() { p.serve(&running) })
	t.Cleanup(func() {
		cancel()
		listener.Close()
		running.Wait()
	})
	return p
}

func (p *silentProxy) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resumed = make(chan struct{})
}

func (p *silentProxy) resume() { close(p.open()) }

// open returns a channel that is closed unless the proxy is silent.
func (p *silentProxy) open() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumed
}

func (p *silentProxy) serve(running *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		end := sync.OnceFunc(func() {
			client.Close()
			server.Close()
		})
		stop := context.AfterFunc(p.ctx, end)
		for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
			running.Go(func() {
				defer stop()
				defer end()
				p.forward(pair[0], pair[1])
			})
		}
	}
}

func (p *silentProxy) forward(from io.Reader, to io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-p.open():
		case <-p.ctx.Done():
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
