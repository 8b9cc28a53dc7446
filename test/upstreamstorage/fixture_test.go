package upstreamstorage

import (
	"context"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiserver/pkg/apis/example"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// Intervals at which a watch reports its progress. A case that waits for bookmarks does so for
// three seconds. The other cases must not receive any: they take a watch for idle that has sent
// nothing for 100 ms.
const (
	shortProgress = 100 * time.Millisecond
	noProgress    = time.Hour
)

// fixture is a store and the etcd behind it. Both end with the test.
type fixture struct {
	*adapter
	client *clientv3.Client
}

// newFixture returns a store over a new etcd, behind a watch cache if cached is set.
func newFixture(t *testing.T, cached bool, progress time.Duration) *fixture {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	codec, transformer := newPodCodec(), newTransformer()
	backend, err := etcd.New(etcd.Config{
		Client: server.Client(), Member: server, LocalReads: true,
		Prefix: root, Transformer: transformer, ProgressInterval: progress,
	})
	if err != nil {
		t.Fatal(err)
	}
	store := backend.Store(codec)
	if cached {
		store = startCache(t, backend, progress).Store("/pods/", codec, store)
	}
	a := newAdapter(store, codec, transformer)
	a.currentRevision = backend.CurrentRevision
	t.Cleanup(a.stopWatches)
	return &fixture{adapter: a, client: server.Client()}
}

func startCache(t *testing.T, log storage.Log, progress time.Duration) *watchcache.Cache {
	t.Helper()
	cache, err := watchcache.New(watchcache.Config{Log: log, ProgressInterval: progress})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- cache.Run(ctx) }() // ends with the test
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := cache.AwaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cache
}

// increaseRevision writes a key that belongs to no object.
func (f *fixture) increaseRevision(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	resp, err := f.client.Put(ctx, "increaseRV", "ok")
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

// compact writes a key, as kube-apiserver's compaction does, and compacts etcd.
func (f *fixture) compact(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	revision, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	f.increaseRevision(ctx, t)
	if _, err := f.client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
}

// checkStored checks the stored bytes of a key.
func (f *fixture) checkStored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	resp, err := f.client.Get(ctx, root+key)
	if err != nil || len(resp.Kvs) == 0 {
		t.Fatalf("nothing is stored under %s: %v", key, err)
	}
	data, _, err := f.transformer.FromStorage(ctx, resp.Kvs[0].Value, root+key)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := f.codec.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if pod := obj.(*example.Pod); pod.ResourceVersion != "" || pod.SelfLink != "" {
		t.Errorf("the stored object has resourceVersion %q and selfLink %q", pod.ResourceVersion, pod.SelfLink)
	}
}
