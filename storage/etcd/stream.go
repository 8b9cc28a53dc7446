package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// stream is a watch of etcd on a stream of its own, which the client does not
// give it unasked. On a shared one etcd tells progress only when the slowest
// watch has caught up; and on a shared one the in-process client stands still
// for ever when some twenty watches end while an event is on its way, for it
// waits for the server to take a cancellation and the server waits for it to
// take the event.
type stream struct {
	ctx      context.Context
	watcher  clientv3.Watcher
	incoming clientv3.WatchChan
	close    func() // returns when the client has let go of the stream; idempotent
}

// openStream watches path. It returns when etcd has answered or ctx has ended.
// A member that loses its leader ends the watch rather than stay silent.
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
			_ = watcher.Close() // what is left to fail is the end of a context
		},
	}
}

// openInProcess gets its stream by metadata that no other watch has: the client
// puts watches on one stream whose metadata are the same. A stream must not be
// given up before etcd has answered, for then the client would keep it; so the
// end of ctx is left to the caller, who closes.
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

// requestProgress asks etcd how far the watch has come; the answer comes with
// the events. It does nothing if there is something to receive: it might be
// the end of the watch, and the client would open a new stream for it.
//
// A request that fails needs no answer. If the stream is broken the watch
// learns of it, and if not there is another time.
func (s *stream) requestProgress() {
	if len(s.incoming) == 0 {
		_ = s.watcher.RequestProgress(s.ctx)
	}
}
