package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// stream is a watch of etcd on a gRPC stream of its own. By default the client shares a stream
// among watches. A shared stream has two problems: etcd only notifies of progress when the slowest
// watch of the stream is synced, and the in-process client deadlocks when about twenty watches end
// while an event is sent, because it waits for the server to receive a cancellation while the
// server waits for it to receive the event.
type stream struct {
	ctx      context.Context
	watcher  clientv3.Watcher
	incoming clientv3.WatchChan
	close    func() // waits until the client has released the stream; idempotent
}

// openStream watches path. It returns when etcd has answered or ctx has ended. A member that loses
// its leader ends the watch.
func (b *Backend) openStream(ctx context.Context, path string, opts ...clientv3.OpOption) *stream {
	ctx = clientv3.WithRequireLeader(ctx)
	if b.client.ActiveConnection() == nil {
		return openInProcess(ctx, b.client, path, opts)
	}
	ctx, cancel := context.WithCancel(ctx)
	watcher := clientv3.NewWatcher(b.client)
	return &stream{
		ctx:      ctx,
		watcher:  watcher,
		incoming: watcher.Watch(ctx, path, opts...),
		close: func() {
			cancel()
			_ = watcher.Close() // the error can only be the end of the context
		},
	}
}

// openInProcess watches path with unique metadata, because the client shares a stream among the
// watches with equal metadata. The client would leak a stream that is cancelled before etcd has
// answered. Therefore the stream does not end with ctx, and the caller closes it.
func openInProcess(ctx context.Context, client *clientv3.Client, path string, opts []clientv3.OpOption) *stream {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &stream{watcher: client.Watcher}
	s.ctx = metadata.AppendToOutgoingContext(ctx, "watch", fmt.Sprintf("%p", s))
	s.incoming = client.Watch(s.ctx, path, opts...)
	s.close = func() {
		cancel()
		for range s.incoming { // closed when the client's goroutine has ended
		}
	}
	return s
}

// requestProgress requests a progress notification from etcd, which arrives in the stream of
// events. It does nothing if there is a response to receive: that could be the end of the watch,
// and the client would open a new stream for the request.
//
// The error of a request is ignored. If the stream is broken the watch ends, and otherwise the next
// request may succeed.
func (s *stream) requestProgress() {
	if len(s.incoming) == 0 {
		_ = s.watcher.RequestProgress(s.ctx)
	}
}
