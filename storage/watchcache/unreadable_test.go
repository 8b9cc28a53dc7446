package watchcache_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/transform"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// lock is a transformer that cannot read values until it is unlocked.
type lock struct {
	transform.Identity
	unlocked atomic.Bool
	changed  chan struct{}
}

var errLocked = errors.New("the values are locked")

func (l *lock) FromStorage(ctx context.Context, data []byte, key string) ([]byte, bool, error) {
	if !l.unlocked.Load() {
		return nil, false, errLocked
	}
	return l.Identity.FromStorage(ctx, data, key)
}

func (l *lock) Changed() <-chan struct{} { return l.changed }

// Values that cannot be read have the error of the transformer, also after they were in the cache
// before their store. The cache reads them again when the transformer has changed.
func TestUnreadableValues(t *testing.T) {
	server := startEmbedded(t)
	for name, cfg := range map[string]etcd.Config{
		"by the client": {Client: server.Client(), LocalReads: true, Prefix: "/client"},
		"by the member": {Client: server.Client(), LocalReads: true, Prefix: "/member", Member: server},
	} {
		t.Run(name, func(t *testing.T) { testUnreadableValues(t, server, cfg) })
	}
}

func testUnreadableValues(t *testing.T, server *embedded.Server, cfg etcd.Config) {
	kind := storagetest.Kinds()[0]
	data, err := kind.Codec.Encode(kind.New("ns1", "a", "1"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, server.Client(), cfg.Prefix+kind.Key("ns1", "a"), string(data))
	l := &lock{changed: make(chan struct{})}
	cfg.Transformer = l
	backend, err := etcd.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cache := startCache(t, watchcache.Config{Log: backend})
	if err := cache.AwaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := cache.Store("/pods/", kind.Codec, backend.Store(kind.Codec))
	put(t, server.Client(), cfg.Prefix+kind.Key("ns1", "b"), string(data))
	for _, name := range []string{"a", "b"} {
		entry, err := store.Get(t.Context(), kind.Key("ns1", name), storage.GetOptions{})
		if err == nil {
			_, err = entry.Object()
		}
		if !errors.Is(err, storage.ErrCorrupt) || !errors.Is(err, errLocked) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	watcher, err := store.Watch(t.Context(), "/pods/", storage.WatchOptions{Recursive: true, ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	l.unlocked.Store(true)
	close(l.changed)
	for { // until the cache has read the state again
		page, err := store.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true, ResourceVersion: "0"})
		if err == nil && len(page.Entries) == 2 {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, client *clientv3.Client, key, value string) {
	t.Helper()
	if _, err := client.Put(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}
