package etcd

import (
	"context"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// breaking opens streams that break after each response with events.
type breaking struct{ etcdserverpb.WatchClient }

func (b breaking) Watch(ctx context.Context, opts ...grpc.CallOption) (etcdserverpb.Watch_WatchClient, error) {
	rpc, err := b.WatchClient.Watch(ctx, opts...)
	return &breakingStream{Watch_WatchClient: rpc}, err
}

type breakingStream struct {
	etcdserverpb.Watch_WatchClient
	broken bool
}

func (s *breakingStream) Recv() (*etcdserverpb.WatchResponse, error) {
	if s.broken {
		return nil, status.Error(codes.Unavailable, "the connection is lost")
	}
	resp, err := s.Watch_WatchClient.Recv()
	s.broken = err == nil && len(resp.Events) > 0
	return resp, err
}

// rpcWatcher is a Watcher with another RPC.
type rpcWatcher struct {
	clientv3.Watcher
	rpc etcdserverpb.WatchClient
}

func (w rpcWatcher) WatchClient() etcdserverpb.WatchClient { return w.rpc }

// withWatchRPC returns a client like another one, with the RPC that wrap returns.
func withWatchRPC(t *testing.T, client *clientv3.Client, wrap func(etcdserverpb.WatchClient) etcdserverpb.WatchClient) *clientv3.Client {
	t.Helper()
	wrapped := clientv3.NewCtxClient(t.Context())
	wrapped.KV, wrapped.Lease = client.KV, client.Lease
	wrapped.Watcher = rpcWatcher{client.Watcher, wrap(watchClient(client))}
	return wrapped
}

func TestWatchContinuesAfterABrokenConnection(t *testing.T) {
	client := withWatchRPC(t, startEtcd(t), func(rpc etcdserverpb.WatchClient) etcdserverpb.WatchClient { return breaking{rpc} })
	s := newStore(t, Config{Client: client, LocalReads: true})
	w := startWatch(t, s, storage.WatchOptions{ResourceVersion: versioner.Format(create(t, s, 0).Revision)})
	for i := range 20 {
		want := create(t, s, i+1)
		if e := <-w.Events(); e.Type != watch.Added || e.Revision != want.Revision {
			t.Fatalf("got %s at %d, want the creation at %d", e.Type, e.Revision, want.Revision)
		}
	}
}

// The Watcher of clientv3 can panic if progress is requested while etcd ends a watch.
func TestProgressIsRequestedWhileEtcdEndsTheWatch(t *testing.T) {
	s := newStore(t, Config{})
	create(t, s, 0)
	last := create(t, s, 1)
	if _, err := s.client.Compact(t.Context(), last.Revision); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		stream := s.openStream(t.Context(), watchPrefix("/registry/", 2))
		var end clientv3.WatchResponse
		for open := true; open; {
			stream.requestProgress()
			var resp clientv3.WatchResponse
			if resp, open = <-stream.incoming; open {
				end = resp
			}
		}
		stream.close()
		if end.CompactRevision != last.Revision || stream.err != nil {
			t.Fatalf("the watch ends with %v, %v", end.Err(), stream.err)
		}
	}
}

// etcd holds the events of a watch back until it has announced the watch, but not notifications of
// progress.
func TestProgressDoesNotPrecedeTheFirstEvents(t *testing.T) {
	s := newStore(t, Config{})
	next := create(t, s, 0).Revision + 1
	for i := range 500 {
		stream := s.openStream(t.Context(), watchPrefix("/registry/", next))
		written := make(chan int64, 1)
		go func() { written <- create(t, s, i+1).Revision }() // ends before the next round
		for event := int64(0); event == 0; {
			stream.requestProgress()
			resp := <-stream.incoming
			if len(resp.Events) > 0 {
				event = resp.Events[0].Kv.ModRevision
			} else if resp.Header.Revision >= next {
				t.Fatalf("round %d: progress %d before the event", i, resp.Header.Revision)
			}
		}
		stream.close()
		next = <-written + 1
	}
}
