package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// eventBuffer is the size of the channel of events. A buffer saves switches between goroutines.
const eventBuffer = 64

// watcher is one watch. It has one goroutine, and the client has another one for its stream.
type watcher struct {
	store *resourceStore
	target
	opts storage.WatchOptions

	// initial lists the state that the watch begins with. Nil: the watch begins after revision.
	initial *listing
	page    *clientv3.GetResponse // the first page of initial
	// revision up to which all events were reported. Once the goroutine runs, only it uses
	// revision.
	revision int64

	events chan storage.Event
	cancel context.CancelFunc
	done   chan struct{}
}

// Watch implements storage.Interface.
func (s *resourceStore) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	t, err := s.scope("watch", key, opts.Recursive)
	if err != nil {
		return nil, err
	}
	w := &watcher{
		store: s, target: t, opts: opts,
		events: make(chan storage.Event, eventBuffer),
		done:   make(chan struct{}),
	}
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	ctx, w.cancel = context.WithCancel(ctx)
	go w.run(ctx) // ends with ctx or Stop, which waits for it
	return w, nil
}

// Events implements storage.Watcher.
func (w *watcher) Events() <-chan storage.Event { return w.events }

// Stop implements storage.Watcher.
func (w *watcher) Stop() {
	w.cancel()
	<-w.done
}

// begin determines the start of the watch. If the watch begins with the current state it reads the
// first page, so that Watch returns the errors of that read.
func (w *watcher) begin(ctx context.Context) error {
	plan, err := w.opts.Plan(w.store.versioner)
	switch {
	case err != nil:
		return rejected("watch", w.key, 0, err)
	case plan.Initial:
		w.initial = w.store.newInitialListing(w.target, w.opts, plan.Minimum)
		w.page, err = w.initial.next(ctx)
	case plan.After > 0:
		w.revision = plan.After
	default:
		w.revision, err = w.store.CurrentRevision(ctx)
	}
	return err
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	defer close(w.events)
	defer w.cancel()
	if w.initial != nil {
		if err := w.sendInitial(ctx); err != nil {
			if ctx.Err() == nil {
				w.send(ctx, storage.Event{Type: watch.Error, Err: err})
			}
			return
		}
	}
	w.follow(ctx)
}

// sendInitial reports the current state in the order of keys. It waits for the consumer, so that
// only one page is in memory. The end of ctx is an error.
func (w *watcher) sendInitial(ctx context.Context) error {
	for page := w.page; ; {
		for i, kv := range page.Kvs {
			page.Kvs[i] = nil // for the garbage collector
			entry, err := w.initial.match(ctx, kv)
			if err != nil {
				return err
			}
			if entry != nil && !w.send(ctx, storage.Event{Type: watch.Added, Entry: entry, Revision: entry.Revision}) {
				return ctx.Err()
			}
		}
		if page.Count == int64(len(page.Kvs)) {
			break
		}
		var err error
		if page, err = w.initial.next(ctx); err != nil {
			return err
		}
	}
	w.page, w.revision = nil, w.initial.revision
	if !w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.revision, InitialEventsEnd: true}) {
		return ctx.Err()
	}
	return nil
}

// send waits for the consumer. It returns false if the watch has ended.
func (w *watcher) send(ctx context.Context, e storage.Event) bool {
	select {
	case w.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// follow reports the events after w.revision until the watch ends.
func (w *watcher) follow(ctx context.Context) {
	stream := w.store.openStream(ctx, w.path, w.streamOptions()...)
	defer stream.close()
	ticks, stop := w.opts.ProgressTicks(w.store.cfg.ProgressInterval)
	defer stop()
	queue := backlog{limit: w.store.cfg.WatchBacklog}
	for incoming := stream.incoming; incoming != nil || !queue.empty(); {
		out, head := queue.head(w.events)
		select {
		case <-ctx.Done():
			return
		case out <- head:
			queue.pop()
		case resp, open := <-incoming:
			if !open || !w.receive(ctx, resp, &queue) || queue.overflowed() {
				stream.close()
				incoming, ticks = nil, nil // the queued events are still delivered
			}
		case <-ticks:
			stream.requestProgress()
		}
	}
}

func (w *watcher) streamOptions() []clientv3.OpOption {
	opts := []clientv3.OpOption{clientv3.WithRev(w.revision + 1), clientv3.WithPrevKV()}
	if w.opts.Recursive {
		opts = append(opts, clientv3.WithPrefix())
	}
	if w.opts.ProgressNotify {
		opts = append(opts, clientv3.WithProgressNotify())
	}
	return opts
}

// receive queues the events of a response of etcd. It returns false if it is the last response.
func (w *watcher) receive(ctx context.Context, resp clientv3.WatchResponse, queue *backlog) bool {
	if err := resp.Err(); err != nil {
		if codeOf(err) != codes.Canceled && !errors.Is(err, context.Canceled) {
			queue.push(storage.Event{Type: watch.Error, Err: readError("watch", w.key, err)}, 0)
		}
		return false
	}
	for _, e := range resp.Events {
		event, size, err := w.translate(ctx, e)
		if err != nil {
			queue.push(storage.Event{Type: watch.Error, Err: err}, 0)
			return false
		}
		if event.Type != "" {
			w.revision = event.Revision
			queue.push(event, size)
		}
	}
	// etcd notifies all watches of a stream of progress, with or without a request.
	if revision := resp.Header.Revision; resp.IsProgressNotify() && w.opts.ProgressNotify && revision > w.revision {
		w.revision = revision
		queue.push(storage.Event{Type: watch.Bookmark, Revision: revision}, 0)
	}
	return true
}
