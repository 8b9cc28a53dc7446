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

// forward is a store that hands every call to the one that to returns.
type forward struct {
	storage.Interface // one of them, for what is the same in all
	to                func() storage.Interface
}

func (f forward) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	return f.to().Create(ctx, key, obj, opts)
}

func (f forward) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	return f.to().Get(ctx, key, opts)
}

func (f forward) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	return f.to().GetList(ctx, key, opts)
}

func (f forward) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	return f.to().Watch(ctx, key, opts)
}

func (f forward) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	return f.to().GuaranteedUpdate(ctx, key, propose, opts)
}

func (f forward) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	return f.to().Delete(ctx, key, opts)
}

func (f forward) Count(ctx context.Context, key string) (int64, error) {
	return f.to().Count(ctx, key)
}

// inTurn returns a store that hands every call to the next of the replicas.
func inTurn(replicas []storage.Interface) storage.Interface {
	var calls atomic.Uint64
	return forward{replicas[0], func() storage.Interface {
		return replicas[calls.Add(1)%uint64(len(replicas))]
	}}
}

// dial returns a client that speaks gRPC to an etcd, and ends with the test.
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

// replicated makes stores of some replicas on one external etcd.
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
		return storagetest.Fixture{Store: inTurn(replicas), Client: client, Prefix: prefix}
	}}
}

// TestExternal runs the suite over an etcd that is reached by gRPC.
func TestExternal(t *testing.T) {
	storagetest.Run(t, replicated(dial(t), 1))
}

// TestReplicas runs the simulation on two replicas with a cache each, over an
// etcd that others write to as well.
func TestReplicas(t *testing.T) {
	client := dial(t)
	writeElsewhere(t, client)
	storagetest.Simulate(t, replicated(client, 2), storagetest.Simulation{Seed: *seed, Writes: *writes})
}

// writeElsewhere moves the revision of etcd until the test ends, by writes that
// no cache is told of.
func writeElsewhere(t *testing.T, client *clientv3.Client) {
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
				_, _ = client.Put(ctx, "/elsewhere", fmt.Sprint(i))
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}
