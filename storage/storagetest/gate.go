package storagetest

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Gate blocks decoding while it is shut, like a conversion webhook that does not answer.
type Gate struct {
	// Waiting receives a value for each blocked decoding.
	Waiting chan struct{}

	mu   sync.Mutex    // guards open
	open chan struct{} // closed while the gate is open
}

// NewGate returns an open gate.
func NewGate() *Gate {
	g := &Gate{open: make(chan struct{}), Waiting: make(chan struct{}, 100)}
	close(g.open)
	return g
}

// Codec returns a comparable codec that waits for the gate before it decodes.
func (g *Gate) Codec(codec storage.Codec) storage.ContextCodec { return gatedCodec{codec, g} }

// Shut closes the gate and returns a function that opens it. Waiting is empty afterwards.
func (g *Gate) Shut() (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.Waiting) > 0 {
		<-g.Waiting
	}
	opening := make(chan struct{})
	g.open = opening
	return func() { close(opening) }
}

func (g *Gate) pass(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	default:
	}
	g.Waiting <- struct{}{}
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type gatedCodec struct {
	storage.Codec
	gate *Gate
}

func (c gatedCodec) Decode(data []byte) (runtime.Object, error) {
	return c.DecodeContext(context.Background(), data)
}

// DecodeContext implements storage.ContextCodec.
func (c gatedCodec) DecodeContext(ctx context.Context, data []byte) (runtime.Object, error) {
	if err := c.gate.pass(ctx); err != nil {
		return nil, err
	}
	return c.Codec.Decode(data)
}
