package watchcache

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

const (
	// eventBuffer lets a consumer take several events for one switch of
	// goroutines.
	eventBuffer = 64
	// batchSize is how many events a watcher takes from the window at once.
	batchSize = 64
)

// watcher is one watch. It runs one goroutine.
type watcher struct {
	*cachedStore
	key  string // "/pods/" of "/pods" where it is recursive
	opts storage.WatchOptions
	// initial is the state to report first; nil: none is.
	initial *snapshot
	// revision up to which everything was reported.
	revision int64

	events chan storage.Event
	cancel context.CancelFunc
	done   chan struct{}
}

// Watch implements storage.Interface.
func (s *cachedStore) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	w := &watcher{cachedStore: s, key: key, opts: opts, events: make(chan storage.Event, eventBuffer), done: make(chan struct{})}
	if opts.Recursive {
		w.key = below(key)
	}
	if err := s.cache.AwaitLoaded(ctx); err != nil {
		return nil, failed("watch", w.key, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err))
	}
	err := w.begin(ctx)
	s.cache.telemetry.answered(err)
	if err == errNotCached {
		return s.Interface.Watch(ctx, key, opts)
	}
	if err != nil {
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

// begin finds out where the watch begins. The error is errNotCached if the cache does not
// know.
func (w *watcher) begin(ctx context.Context) error {
	plan, err := w.opts.Plan(w.Versioner())
	if err != nil {
		return failed("watch", w.key, 0, err)
	}
	minimum, err := w.await(ctx, "watch", w.key, plan.Freshness)
	if err != nil {
		return err
	}
	state, current, err := w.cache.snapshot(w.resource, minimum)
	if err != nil {
		return err
	}
	w.revision = current
	if plan.Initial {
		w.initial = state
	}
	if plan.After == 0 {
		return nil
	}
	w.revision = plan.After
	// As for lists, a compacted revision is rejected even if the window still contains it.
	if plan.After < current && w.cache.cfg.Log.Retains(ctx, plan.After+1) != nil {
		return errNotCached
	}
	return nil
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	defer close(w.events)
	defer w.cancel()
	if w.initial != nil && !w.sendInitial(ctx) {
		return
	}
	if w.follow(ctx) {
		w.followStorage(ctx)
	}
}

// sendInitial reports the state in the order of keys. It is false if the watch
// is over.
func (w *watcher) sendInitial(ctx context.Context) bool {
	going := true
	report := func(entry *storage.Entry) bool {
		selected, err := w.opts.Predicate.MatchesEntry(ctx, entry)
		switch {
		case err != nil:
			w.fail(ctx, err)
			going = false
		case selected:
			going = w.send(ctx, storage.Event{Type: watch.Added, Entry: entry, Revision: entry.Revision})
		}
		return going
	}
	if w.opts.Recursive {
		w.initial.ascend(w.key, w.key, report)
	} else if entry := w.initial.get(w.key); entry != nil {
		report(entry)
	}
	w.initial = nil
	return going && w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.revision, InitialEventsEnd: true})
}

// send waits for the consumer. It is false if the watch is over.
func (w *watcher) send(ctx context.Context, e storage.Event) bool {
	select {
	case w.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// fail reports an error, unless it is but the end of the watch.
func (w *watcher) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	w.send(ctx, storage.Event{Type: watch.Error, Err: err})
}

// follow reports what the window gets after w.revision. It is true if the
// window has gone on without the watcher, who has to catch up elsewhere.
func (w *watcher) follow(ctx context.Context) (lost bool) {
	ticks, stop := w.opts.ProgressTicks(w.cache.cfg.ProgressInterval)
	defer stop()
	r := reader{cache: w.cache, resource: w.resource, begin: w.revision}
	for due := false; ; {
		if !r.read() {
			return true
		}
		for _, e := range r.batch {
			if e.revision > r.begin && !w.report(ctx, e) {
				return false
			}
		}
		w.revision = max(w.revision, r.upTo)
		if len(r.batch) > 0 {
			continue
		}
		if due && r.upTo >= w.revision && !w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.revision}) {
			return false
		}
		due = false
		select {
		case <-r.changed:
		case <-ticks:
			due = true
			w.cache.requestProgress()
		case <-ctx.Done():
			return false
		}
	}
}

// followStorage reports what happens after w.revision, as the storage behind
// tells it.
func (w *watcher) followStorage(ctx context.Context) {
	w.cache.telemetry.fallenBehind.Inc()
	opts := w.opts
	opts.SendInitialEvents = nil
	opts.ResourceVersion = versioner.Format(w.revision)
	behind, err := w.Interface.Watch(ctx, w.key, opts)
	if err != nil {
		w.fail(ctx, err)
		return
	}
	defer behind.Stop()
	for e := range behind.Events() {
		w.cache.raiseMinimum(e.Revision)
		if !w.send(ctx, e) {
			return
		}
	}
}
