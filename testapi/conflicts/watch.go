package conflicts

import (
	"context"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// watcher is a watch of the log.
type watcher struct {
	log       *Log
	predicate storage.Predicate
	events    chan storage.Event
	stop      context.CancelFunc
	ended     chan struct{}
}

// Watch implements registry.Feed. A conflict never starts or stops to match a selector, because the
// selectable fields do not change.
func (l *Log) Watch(ctx context.Context, opts storage.WatchOptions) (storage.Watcher, error) {
	plan, err := opts.Plan(versioner.APIObjectVersioner{})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{log: l, predicate: opts.Predicate, events: make(chan storage.Event), stop: stop, ended: make(chan struct{})}
	go w.run(ctx, plan) // ends with ctx, Stop waits for it
	return w, nil
}

// Events implements storage.Watcher.
func (w *watcher) Events() <-chan storage.Event { return w.events }

// Progress implements storage.Watcher.
func (w *watcher) Progress() storage.WatchProgress { return storage.WatchProgress{} }

// Stop implements storage.Watcher.
func (w *watcher) Stop() {
	w.stop()
	<-w.ended
}

func (w *watcher) run(ctx context.Context, plan storage.WatchPlan) {
	defer close(w.ended)
	defer close(w.events)
	position := plan.After
	if plan.Initial || position == 0 {
		entries, revision := w.log.State()
		position = revision
		if plan.Initial && !w.sendInitial(ctx, entries, revision) {
			return
		}
	}
	for {
		changes, changed, err := w.log.after(position)
		if err != nil {
			w.send(ctx, storage.Event{Type: watch.Error, Err: err})
			return
		}
		for _, c := range changes {
			if !w.sendEntry(ctx, c.event, entryOf(c.conflict, c.revision)) {
				return
			}
			position = c.revision
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// sendInitial sends the state that a watch begins with, and the bookmark that ends it.
func (w *watcher) sendInitial(ctx context.Context, entries []*storage.Entry, revision int64) bool {
	for _, entry := range entries {
		if !w.sendEntry(ctx, watch.Added, entry) {
			return false
		}
	}
	return w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: revision, InitialEventsEnd: true})
}

// sendEntry sends an event if the predicate matches it, and reports whether the watch continues.
func (w *watcher) sendEntry(ctx context.Context, event watch.EventType, entry *storage.Entry) bool {
	matches, err := w.predicate.MatchesEntry(ctx, entry)
	if err != nil || !matches {
		return err == nil
	}
	return w.send(ctx, storage.Event{Type: event, Entry: entry, Revision: entry.Revision})
}

func (w *watcher) send(ctx context.Context, event storage.Event) bool {
	select {
	case w.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}
