package watchcache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

const (
	// eventBuffer is the size of the channel of events. A buffer saves switches between
	// goroutines.
	eventBuffer = 64
	// batchSize and batchBytes limit the events that a watcher reads from the window at once. A
	// slow watcher keeps them after the window has dropped them.
	batchSize  = 64
	batchBytes = 256 << 10
)

// watcher is one watch. It has one goroutine.
type watcher struct {
	*cachedStore
	key  string // with a slash at the end if the watch is recursive
	opts storage.WatchOptions
	// initial is the state that the watch begins with. Nil: the watch begins after revision.
	initial *snapshot
	// pending is set until the initial events are sent, which are not in the order of their
	// revisions.
	pending bool
	// revision up to which all events were reported. It is 0 in a watch that the storage has begun
	// at an unknown revision.
	revision int64
	// requested is set if a Bookmark must be sent although opts do not request it.
	requested bool
	// position in the window of the next event to report. -1: not known.
	position atomic.Int64

	events chan storage.Event
	cancel context.CancelFunc
	done   chan struct{}
}

// Watch implements storage.Interface.
func (s *cachedStore) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	w := &watcher{cachedStore: s, key: key, opts: opts, events: make(chan storage.Event, eventBuffer), done: make(chan struct{})}
	w.position.Store(-1)
	if opts.Recursive {
		w.key = below(key)
	}
	ctx, w.cancel = context.WithCancel(ctx)
	err := w.begin(ctx)
	s.cache.telemetry.answered(err)
	var begun storage.Watcher // of the storage
	if err == errNotCached {
		begun, err = s.Interface.Watch(ctx, key, opts)
	}
	switch {
	case err == nil:
		go w.run(ctx, begun) // ends with ctx or Stop, which waits for it
	case errors.Is(ctx.Err(), context.Canceled):
		w.end()
	default:
		w.cancel()
		return nil, err
	}
	return w, nil
}

// Events implements storage.Watcher.
func (w *watcher) Events() <-chan storage.Event { return w.events }

// Stop implements storage.Watcher.
func (w *watcher) Stop() {
	w.cancel()
	<-w.done
}

// Progress implements storage.Watcher. The position is not known while the initial state is sent,
// and in a watch of the storage.
func (w *watcher) Progress() storage.WatchProgress {
	w.cache.mu.RLock()
	defer w.cache.mu.RUnlock()
	window, progress := &w.resource.window, storage.WatchProgress{}
	progress.Latest = window.latest()
	if position := w.position.Load(); position >= 0 {
		progress.Unread = max(0, window.end()-position)
	}
	return progress
}

// begin determines the start of the watch. The error is errNotCached if the storage must begin it.
func (w *watcher) begin(ctx context.Context) error {
	if err := w.cache.AwaitLoaded(ctx); err != nil {
		return failed("watch", w.key, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err))
	}
	plan, err := w.opts.Plan(w.Versioner())
	if err != nil {
		return failed("watch", w.key, 0, err)
	}
	w.pending, w.revision = plan.Initial, plan.After
	minimum, err := w.await(ctx, "watch", w.key, plan.Freshness)
	if err != nil {
		return err
	}
	state, current, err := w.cache.snapshot(w.resource, minimum)
	if err != nil {
		return err
	}
	// As in a list, a compacted revision is rejected even if the window contains it.
	if 0 < plan.After && plan.After < current && w.cache.cfg.Log.Retains(ctx, plan.After+1) != nil {
		return errNotCached
	}
	if plan.After == 0 {
		w.revision = current
	}
	if plan.Initial {
		w.initial = state
	}
	return nil
}

// run continues the watch of the storage that has begun, or begins in the cache if begun is nil.
func (w *watcher) run(ctx context.Context, begun storage.Watcher) {
	defer w.end()
	switch {
	case begun != nil:
		if !w.relay(ctx, begun) {
			return
		}
	case w.initial != nil:
		if !w.sendInitial(ctx) {
			return
		}
	}
	for w.follow(ctx) && w.followStorage(ctx) {
	}
}

func (w *watcher) end() {
	w.cancel()
	close(w.events)
	close(w.done)
}

// sendInitial reports the initial state in the order of keys. It returns false if the watch has
// ended.
func (w *watcher) sendInitial(ctx context.Context) bool {
	open := true
	report := func(entry *storage.Entry) bool {
		selected, err := w.opts.Predicate.MatchesEntry(ctx, entry)
		switch {
		case err != nil:
			w.fail(ctx, err)
			open = false
		case selected:
			open = w.send(ctx, storage.Event{Type: watch.Added, Entry: entry, Revision: entry.Revision})
		}
		return open
	}
	if w.opts.Recursive {
		w.initial.ascend(w.key, w.key, report)
	} else if entry := w.initial.get(w.key); entry != nil {
		report(entry)
	}
	w.initial, w.pending = nil, false
	return open && w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.revision, InitialEventsEnd: true})
}

// send waits for the consumer. It returns false if the watch has ended.
func (w *watcher) send(ctx context.Context, e storage.Event) bool {
	select { // a select of one channel is cheaper
	case w.events <- e:
		return true
	default:
	}
	select {
	case w.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// fail reports an error, unless the watch has ended.
func (w *watcher) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	w.send(ctx, storage.Event{Type: watch.Error, Err: err})
}

// follow reports the events of the window after w.revision. It returns true if the watcher has
// fallen behind the window and must continue as a watch of the storage, false if the watch has
// ended.
func (w *watcher) follow(ctx context.Context) (behind bool) {
	ticks, stop := w.opts.ProgressTicks(w.cache.cfg.ProgressInterval)
	defer stop()
	r := reader{cache: w.cache, resource: w.resource, begin: w.revision, scope: w.scope(), attrs: w.opts.Predicate.Attrs}
	defer r.stop()
	w.resource.watches.Add(1)
	defer w.resource.watches.Add(-1)
	for bookmark := w.requested; ; {
		if !r.read() {
			w.revision = max(w.revision, r.upTo)
			return true
		}
		for _, e := range r.batch {
			if e.revision > r.begin && !w.report(ctx, e) {
				return false
			}
		}
		w.revision = max(w.revision, r.upTo)
		w.position.Store(r.position)
		if len(r.batch) > 0 {
			continue
		}
		if bookmark && r.upTo >= w.revision && !w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.revision}) {
			return false
		}
		bookmark, w.requested = false, false
		select {
		case <-r.waiting.ready:
		case <-ticks:
			bookmark = true
			w.cache.requestProgress()
		case <-w.opts.ProgressRequests:
			bookmark = true
		case <-ctx.Done():
			return false
		}
	}
}

// report sends an event if the watch selects it. It returns false if the watch has ended.
func (w *watcher) report(ctx context.Context, e *event) bool {
	if !w.inScope(e.key) {
		return true
	}
	eventType, err := w.opts.Predicate.EventType(ctx, e.before, e.after)
	if err != nil {
		w.fail(ctx, err)
		return false
	}
	event := storage.Event{Type: eventType, Entry: e.after, Revision: e.revision}
	if eventType == watch.Deleted {
		event.Entry = e.deleted()
	}
	return eventType == "" || w.send(ctx, event)
}

// scope returns the scope of the events that the watch may report.
func (w *watcher) scope() scope {
	s := scope{key: w.key}
	if !strings.HasPrefix(w.key, w.resource.root) {
		s.key = w.resource.root
	}
	if _, waits := w.resource.codec.(storage.ContextCodec); waits || !w.opts.Recursive {
		return s
	}
	s.field, s.value, _ = selectedField(w.opts.Predicate)
	return s
}

// inScope reports whether key is in the scope of the watch.
func (w *watcher) inScope(key string) bool {
	if w.opts.Recursive {
		return strings.HasPrefix(key, w.key)
	}
	return key == w.key
}

// followStorage reports the events after w.revision from a watch of the storage. It returns true
// when the window has all later events, false if the watch has ended.
func (w *watcher) followStorage(ctx context.Context) (caughtUp bool) {
	w.cache.telemetry.fallenBehind.Inc()
	w.position.Store(-1)
	opts := w.opts
	opts.SendInitialEvents = nil
	opts.ResourceVersion = versioner.Format(w.revision)
	watcher, err := w.Interface.Watch(ctx, w.key, opts)
	if err != nil {
		w.fail(ctx, err)
		return false
	}
	return w.relay(ctx, watcher)
}

// relay reports the events of a watch of the storage, which it stops. It returns true when the
// window has all later events, false if the watch has ended.
func (w *watcher) relay(ctx context.Context, from storage.Watcher) (caughtUp bool) {
	defer from.Stop()
	w.requested = w.opts.ProgressRequests != nil // the storage may receive a request that it does not answer
	for e := range from.Events() {
		w.cache.raiseMinimum(e.Revision)
		if w.pending {
			w.pending = !e.InitialEventsEnd
		} else if before := revisionBefore(e); before > w.revision {
			w.revision = before
			if w.covers(w.key) && w.cache.continues(w.resource, before) {
				return true
			}
		}
		if !w.send(ctx, e) {
			return false
		}
	}
	return false
}

// revisionBefore returns the revision up to which a watch has reported all events before e. More
// events of the revision of e may follow, unless e is a bookmark.
func revisionBefore(e storage.Event) int64 {
	if e.Type == watch.Bookmark {
		return e.Revision
	}
	return e.Revision - 1
}
