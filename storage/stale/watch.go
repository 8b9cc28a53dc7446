package stale

import (
	"context"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// watcher withholds the events of another watch until the hold reaches their revisions. It has one
// goroutine.
type watcher struct {
	next storage.Watcher
	hold Hold
	// initial is a past state that the watch begins with. Nil: next begins it.
	initial *storage.Page
	// complete is the revision of the initial events, which are not withheld.
	complete int64
	// pending is set while next sends initial events.
	pending bool

	events chan storage.Event
	cancel context.CancelFunc
	done   chan struct{}
}

// Watch implements storage.Interface. Initial events with a resourceVersion are those of the held
// state; without one they are consistent.
func (s *store) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	hold, revision := holdFrom(ctx)
	if hold == nil {
		return s.Interface.Watch(ctx, key, opts)
	}
	plan, err := opts.Plan(s.Versioner())
	if err != nil {
		return s.Interface.Watch(ctx, key, opts)
	}
	w := &watcher{hold: hold, pending: plan.Initial, events: make(chan storage.Event), done: make(chan struct{})}
	if plan.Initial && !plan.Latest {
		if plan.Minimum > revision {
			return nil, tooFarAhead("watch", key, plan.Minimum, revision)
		}
		list := storage.ListOptions{Recursive: opts.Recursive, Predicate: opts.Predicate}
		if w.initial, err = s.Interface.GetList(ctx, key, at(revision, list)); err != nil {
			return nil, err
		}
		w.pending = false
		opts.ResourceVersion, opts.SendInitialEvents = versioner.Format(revision), nil
	}
	if w.next, err = s.Interface.Watch(ctx, key, opts); err != nil {
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

// Progress implements storage.Watcher.
func (w *watcher) Progress() storage.WatchProgress { return w.next.Progress() }

func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	defer close(w.events)
	defer w.next.Stop()
	defer w.cancel()
	if w.initial != nil && !w.sendInitial(ctx) {
		return
	}
	for {
		select {
		case event, open := <-w.next.Events():
			if !open || !w.pass(ctx, event) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// sendInitial sends the past state. It returns false if the watch has ended.
func (w *watcher) sendInitial(ctx context.Context) bool {
	for _, entry := range w.initial.Entries {
		if !w.send(ctx, storage.Event{Type: watch.Added, Entry: entry, Revision: entry.Revision}) {
			return false
		}
	}
	w.complete = w.initial.Revision
	w.initial = nil
	return w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.complete, InitialEventsEnd: true})
}

// pass sends an event when the hold reaches its revision. A bookmark beyond the hold is dropped. It
// returns false if the watch has ended.
func (w *watcher) pass(ctx context.Context, event storage.Event) bool {
	if event.InitialEventsEnd {
		w.pending, w.complete = false, event.Revision
	}
	for !w.pending && event.Type != watch.Error && event.Revision > w.complete {
		revision, changed, held := w.hold.Revision()
		if !held || event.Revision <= revision {
			break
		}
		if event.Type == watch.Bookmark {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
	return w.send(ctx, event)
}

// send waits for the consumer. It returns false if the watch has ended.
func (w *watcher) send(ctx context.Context, event storage.Event) bool {
	select {
	case w.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}
