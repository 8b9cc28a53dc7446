package watchcache_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// routingStore is a store that calls the store returned by route.
type routingStore struct {
	storage.Interface // one of the stores, for calls whose answer is the same in all
	route             func() storage.Interface
}

func (s routingStore) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	return s.route().Create(ctx, key, obj, opts)
}

func (s routingStore) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	return s.route().Get(ctx, key, opts)
}

func (s routingStore) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	return s.route().GetList(ctx, key, opts)
}

func (s routingStore) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	return s.route().Watch(ctx, key, opts)
}

func (s routingStore) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	return s.route().GuaranteedUpdate(ctx, key, propose, opts)
}

func (s routingStore) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	return s.route().Delete(ctx, key, opts)
}

func (s routingStore) Count(ctx context.Context, key string) (int64, error) {
	return s.route().Count(ctx, key)
}

// roundRobin returns a store that calls the replicas one after the other.
func roundRobin(replicas []storage.Interface) storage.Interface {
	var calls atomic.Uint64
	return routingStore{replicas[0], func() storage.Interface {
		return replicas[calls.Add(1)%uint64(len(replicas))]
	}}
}

// dial returns a gRPC client of an etcd. The test closes both at its end.
func dial(t *testing.T) *clientv3.Client {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   server.ClientURLs(),
		Logger:      zap.NewNop(),
		DialOptions: []grpc.DialOption{etcd.AtMostOnce()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return client
}

// replicated returns a harness with n replicas on one external etcd.
func replicated(client *clientv3.Client, n int) storagetest.Harness {
	var stores atomic.Int64
	return storagetest.Harness{New: func(t *testing.T, codec storage.Codec) storagetest.Fixture {
		prefix := fmt.Sprintf("/registry/%d", stores.Add(1))
		var replicas []storage.Interface
		for range n {
			backend, err := etcd.New(etcd.Config{Client: client, Prefix: prefix, ProgressInterval: 10 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			cache := startCache(t, watchcache.Config{Log: backend, ProgressInterval: 10 * time.Millisecond})
			replicas = append(replicas, cache.Store("/", codec, backend.Store(codec)))
		}
		return storagetest.Fixture{Store: roundRobin(replicas), Client: client, Prefix: prefix}
	}}
}

// TestExternal runs the suite over an etcd that is accessed by gRPC.
func TestExternal(t *testing.T) {
	storagetest.Run(t, replicated(dial(t), 1))
}

// TestReplicas runs the simulation on two replicas with a cache each, over an etcd that other
// clients write to.
func TestReplicas(t *testing.T) {
	client := dial(t)
	writeOtherKeys(t, client)
	storagetest.Simulate(t, replicated(client, 2), storagetest.Simulation{Seed: *seed, Writes: *writes})
}

// writeOtherKeys increases the revision of etcd until the test ends, by writes to keys that no
// cache reads.
func writeOtherKeys(t *testing.T, client *clientv3.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with the test
		defer close(done)
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_, _ = client.Put(ctx, "/other", fmt.Sprint(i))
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}
