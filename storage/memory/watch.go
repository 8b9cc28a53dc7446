package memory

import (
	"cmp"
	"context"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// progressInterval is the interval of the bookmarks of a watch with ProgressNotify.
const progressInterval = 5 * time.Second

// watcher is one watch. It has one goroutine.
type watcher struct {
	store  *Store
	key    string // with a slash at the end if the watch is recursive
	opts   storage.WatchOptions
	events chan storage.Event
	cancel context.CancelFunc
	done   chan struct{}
	// revision up to which all changes were reported.
	revision int64
}

// Watch implements storage.Interface.
func (s *Store) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	plan, err := opts.Plan(s.versioner)
	if err != nil {
		return nil, failed("watch", key, err)
	}
	w := &watcher{store: s, key: key, opts: opts, events: make(chan storage.Event), done: make(chan struct{}), revision: plan.After}
	if opts.Recursive {
		w.key = below(key)
	}
	s.watches.Add(1)
	s.refresh()
	var initial []*storage.Entry
	if plan.After == 0 {
		initial, w.revision = s.state(w.key)
		if err := checkRevision("watch", key, plan.Minimum, w.revision); err != nil {
			s.watches.Add(-1)
			return nil, err
		}
	}
	ctx, w.cancel = context.WithCancel(ctx)
	go w.run(ctx, plan.Initial, initial) // ends with ctx or Stop, which waits for it
	return w, nil
}

// Events implements storage.Watcher.
func (w *watcher) Events() <-chan storage.Event { return w.events }

// Stop implements storage.Watcher.
func (w *watcher) Stop() {
	w.cancel()
	<-w.done
}

// Progress implements storage.Watcher. The position is not known.
func (w *watcher) Progress() storage.WatchProgress { return storage.WatchProgress{} }

func (w *watcher) run(ctx context.Context, sendInitial bool, initial []*storage.Entry) {
	defer close(w.done)
	defer close(w.events)
	defer w.store.watches.Add(-1)
	defer w.cancel()
	if sendInitial {
		for _, entry := range initial {
			if !w.report(ctx, change{entry.Revision, nil, entry}) {
				return
			}
		}
		if !w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.revision, InitialEventsEnd: true}) {
			return
		}
	}
	w.follow(ctx)
}

// follow reports the changes after w.revision until the watch ends.
func (w *watcher) follow(ctx context.Context) {
	ticks, stop := w.opts.ProgressTicks(progressInterval)
	defer stop()
	for {
		changes, changed, err := w.store.after(w.revision)
		if err != nil {
			w.send(ctx, storage.Event{Type: watch.Error, Err: failed("watch", w.key, err)})
			return
		}
		for _, c := range changes {
			if !w.report(ctx, c) {
				return
			}
			w.revision = c.revision
		}
		select {
		case <-changed:
		case <-ticks:
			if !w.send(ctx, storage.Event{Type: watch.Bookmark, Revision: w.revision}) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// after returns the changes after a revision, and a channel that is closed with the next one.
func (s *Store) after(revision int64) ([]change, <-chan struct{}, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if revision < s.since {
		return nil, nil, storage.ErrCompacted
	}
	i := sort.Search(len(s.window), func(i int) bool { return s.window[i].revision > revision })
	return s.window[i:], s.changed, nil
}

// report sends a change if the watch selects it. It returns false if the watch has ended.
func (w *watcher) report(ctx context.Context, c change) bool {
	key := cmp.Or(c.after, c.before).Key
	if w.opts.Recursive && !strings.HasPrefix(key, w.key) || !w.opts.Recursive && key != w.key {
		return true
	}
	eventType, err := w.opts.Predicate.EventType(ctx, c.before, c.after)
	if err != nil {
		w.send(ctx, storage.Event{Type: watch.Error, Err: err})
		return false
	}
	event := storage.Event{Type: eventType, Entry: c.after, Revision: c.revision}
	if eventType == watch.Deleted {
		event.Entry = c.before.At(c.revision)
	}
	return eventType == "" || w.send(ctx, event)
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
