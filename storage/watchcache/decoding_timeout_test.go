package watchcache_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// gate blocks decoding while it is shut, like a conversion webhook that does not answer.
type gate struct {
	mu      sync.Mutex    // guards the fields below
	open    chan struct{} // closed while the gate is open
	waiting chan struct{} // receives a value for each blocked decoding
}

func newGate() *gate {
	g := &gate{open: make(chan struct{}), waiting: make(chan struct{}, 100)}
	close(g.open)
	return g
}

// shut closes the gate and returns a function that opens it.
func (g *gate) shut() (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	opening := make(chan struct{})
	g.open = opening
	return func() { close(opening) }
}

func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	default:
	}
	g.waiting <- struct{}{}
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gatedCodec waits for its gate before it decodes.
type gatedCodec struct {
	storage.Codec
	gate *gate
}

func (c gatedCodec) Decode(data []byte) (runtime.Object, error) {
	return c.DecodeContext(context.Background(), data)
}

func (c gatedCodec) DecodeContext(ctx context.Context, data []byte) (runtime.Object, error) {
	if err := c.gate.pass(ctx); err != nil {
		return nil, err
	}
	return c.Codec.Decode(data)
}

// TestBlockedDecoding checks that a reader that waits for an object or for an index returns when
// its context ends, whichever reader started the decoding, and that other reads and writes do not
// wait.
func TestBlockedDecoding(t *testing.T) {
	server := startEmbedded(t)
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, Member: server})
	if err != nil {
		t.Fatal(err)
	}
	kind, g := storagetest.Kinds()[0], newGate()
	codec := gatedCodec{kind.Codec, g}
	cache := startCache(t, watchcache.Config{Log: backend, IndexFrom: 1})
	r := &removableStore{T: t, kind: kind, Interface: cache.Store("/pods/", codec, backend.Store(codec))}
	a := r.create("a")
	open := g.shut()

	list := func(ctx context.Context) (*storage.Page, error) {
		return r.GetList(ctx, "/pods/", storage.ListOptions{Recursive: true, Predicate: inRoom(1)})
	}
	start := func(read func(context.Context) error) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- read(ctx) }() // ends with its context
		return func() {
			t.Helper()
			cancel()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) || !errors.Is(err, storage.ErrUnavailable) {
					t.Errorf("a read whose context has ended returns %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("a read continues after its context has ended")
			}
		}
	}
	first := start(func(ctx context.Context) error { _, err := list(ctx); return err })
	<-g.waiting
	second := start(func(ctx context.Context) error { _, err := list(ctx); return err })
	entry, err := r.Get(t.Context(), a.Key, storage.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	third := start(func(ctx context.Context) error { _, err := entry.ObjectContext(ctx); return err })
	<-g.waiting
	fourth := start(func(ctx context.Context) error { _, err := entry.ObjectContext(ctx); return err })
	b := r.create("b")
	if _, err := r.Get(t.Context(), b.Key, storage.GetOptions{}); err != nil {
		t.Error(err)
	}
	for _, end := range []func(){second, fourth, first, third} {
		end()
	}
	open()
	if page, err := list(t.Context()); err != nil || len(page.Entries) != 2 {
		t.Errorf("list is %v: %v", page, err)
	}
}
