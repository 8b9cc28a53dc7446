package etcd

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// eventBuffer is the size of the channel of events. A buffer saves switches between goroutines.
const eventBuffer = 64

// watcher is one watch. It has one goroutine, and its stream has two.
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
	// requested is set if a value of opts.ProgressRequests is not answered.
	requested bool

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
	err = w.begin(ctx)
	ctx, w.cancel = context.WithCancel(ctx)
	switch {
	case err == nil:
		go w.run(ctx) // ends with ctx or Stop, which waits for it
	case errors.Is(ctx.Err(), context.Canceled):
		w.end() // without an error, as in kube-apiserver's store
	default:
		w.cancel()
		return nil, err
	}
	return w, nil
}

// Events implements storage.Watcher.
func (w *watcher) Events() <-chan storage.Event { return w.events }

// Progress implements storage.Watcher. etcd does not report the changes that it has not sent.
func (w *watcher) Progress() storage.WatchProgress { return storage.WatchProgress{} }

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

func (w *watcher) end() {
	w.cancel()
	close(w.events)
	close(w.done)
}

func (w *watcher) run(ctx context.Context) {
	defer w.end()
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

// follow reports the events after w.revision until the watch ends. If the consumer is so slow that
// the backlog is full, it closes the stream of etcd until the consumer has received the backlog,
// and continues with a new stream. So a slow consumer takes little memory and loses its watch only
// if etcd compacts the events.
func (w *watcher) follow(ctx context.Context) {
	queue := &backlog{limit: &w.store.backlogs}
	defer queue.drop()
	for w.fill(ctx, queue) && w.deliver(ctx, queue) {
	}
}

// fill queues and reports the events of a stream. It returns true if it closed the stream because
// the backlog is full, false if the watch has ended.
func (w *watcher) fill(ctx context.Context, queue *backlog) (full bool) {
	stream := w.store.openStream(ctx, w.request())
	defer stream.close()
	ticks, stop := w.opts.ProgressTicks(w.store.cfg.ProgressInterval)
	defer stop()
	// etcd ignores a request for progress while the watch is behind, so it is repeated.
	again := w.repeatRequest()
	for {
		out, head := queue.head(w.events)
		select {
		case <-ctx.Done():
			return false
		case out <- head:
			queue.pop()
		case resp, open := <-stream.incoming:
			if !open {
				w.fail(queue, stream.err)
			}
			if !open || !w.receive(ctx, resp, queue) {
				stream.close()
				w.deliver(ctx, queue)
				return false
			}
			if queue.full() {
				return true
			}
		case <-ticks:
			stream.requestProgress()
		case <-w.opts.ProgressRequests:
			w.requested = true
			stream.requestProgress()
			again = w.repeatRequest()
		case <-again:
			stream.requestProgress()
			again = w.repeatRequest()
		}
	}
}

// deliver reports the queued events. It returns false if the watch has ended.
func (w *watcher) deliver(ctx context.Context, queue *backlog) bool {
	for ; !queue.empty(); queue.pop() {
		if _, head := queue.head(w.events); !w.send(ctx, head) {
			return false
		}
	}
	return true
}

// request returns the request for the events after w.revision.
func (w *watcher) request() *etcdserverpb.WatchCreateRequest {
	request := watchKey(w.path, w.revision+1)
	if w.opts.Recursive {
		request = watchPrefix(w.path, w.revision+1)
	}
	request.PrevKv, request.ProgressNotify = true, w.opts.ProgressNotify
	return request
}

// repeatRequest returns the time of the next request for progress, nil if none is open.
func (w *watcher) repeatRequest() <-chan time.Time {
	if !w.requested {
		return nil
	}
	return time.After(resolveProgress)
}

// reportsProgress reports whether the watch sends a Bookmark of a revision.
func (w *watcher) reportsProgress(revision int64) bool {
	return revision > w.revision && w.opts.ProgressNotify || revision >= w.revision && w.requested
}

// fail queues the error that has ended the watch, if there is one.
func (w *watcher) fail(queue *backlog, err error) {
	if err != nil {
		queue.push(storage.Event{Type: watch.Error, Err: readError("watch", w.key, err)}, 0)
	}
}

// receive queues the events of a response of etcd, which are whole revisions. It returns false if
// it is the last response.
func (w *watcher) receive(ctx context.Context, resp clientv3.WatchResponse, queue *backlog) bool {
	if err := resp.Err(); err != nil {
		w.fail(queue, err)
		return false
	}
	for _, e := range resp.Events {
		event, size, err := w.translate(ctx, e)
		if err != nil {
			queue.push(storage.Event{Type: watch.Error, Err: err}, 0)
			return false
		}
		w.revision = event.Revision
		if event.Type != "" {
			queue.push(event, size)
		}
	}
	// etcd notifies all watches of a stream of progress, with or without a request.
	if revision := resp.Header.Revision; resp.IsProgressNotify() && w.reportsProgress(revision) {
		w.revision, w.requested = revision, false
		queue.push(storage.Event{Type: watch.Bookmark, Revision: revision}, 0)
	}
	return true
}
