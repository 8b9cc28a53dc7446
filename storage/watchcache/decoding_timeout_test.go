package watchcache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// TestBlockedDecoding checks that a reader that waits for an object or for an index returns when
// its context ends, whichever reader started the decoding, and that other reads and writes do not
// wait.
func TestBlockedDecoding(t *testing.T) {
	server := startEmbedded(t)
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, Member: server})
	if err != nil {
		t.Fatal(err)
	}
	kind, g := storagetest.Kinds()[0], storagetest.NewGate()
	codec := g.Codec(kind.Codec)
	cache := startCache(t, watchcache.Config{Log: backend, IndexFrom: 1})
	r := &removableStore{T: t, kind: kind, Interface: cache.Store("/pods/", codec, backend.Store(codec))}
	a := r.create("a")
	open := g.Shut()

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
	<-g.Waiting
	second := start(func(ctx context.Context) error { _, err := list(ctx); return err })
	entry, err := r.Get(t.Context(), a.Key, storage.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	third := start(func(ctx context.Context) error { _, err := entry.ObjectContext(ctx); return err })
	<-g.Waiting
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
