package watchcache

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// reader takes events out of the window of a resource, at its own pace.
type reader struct {
	cache    *Cache
	resource *resource
	begin    int64 // revision to begin after, which may be ahead of the cache
	started  bool
	position int64 // of the next event, once started

	// What the last read came to: the next events; if there are none, what is
	// closed when there are some; the revision up to which all was read.
	batch   []*event
	changed chan struct{}
	upTo    int64
}

// read is false if the window does not reach back to the next event, or gets no more of them.
func (r *reader) read() bool {
	r.cache.mu.RLock()
	defer r.cache.mu.RUnlock()
	if r.resource.removed {
		return false
	}
	if !r.started {
		var ok bool
		if r.position, ok = r.resource.window.after(r.begin); !ok {
			return false
		}
		r.started = true
	}
	next, ok := r.resource.window.from(r.position)
	if !ok {
		return false
	}
	next = next[:wholeRevisions(next)]
	r.batch = append(r.batch[:0], next...)
	r.position += int64(len(next))
	r.changed, r.upTo = r.resource.changed, r.cache.revision
	if len(next) > 0 {
		r.upTo = next[len(next)-1].revision
	}
	return true
}

// wholeRevisions returns how many events to take at once: about batchSize.
func wholeRevisions(events []*event) int {
	n := min(len(events), batchSize)
	for n < len(events) && events[n].revision == events[n-1].revision {
		n++
	}
	return n
}

// report sends what an event means to this watch, if it means anything. It is
// false if the watch is over.
func (w *watcher) report(ctx context.Context, e *event) bool {
	if !w.concerns(e.key) {
		return true
	}
	translated, err := w.translate(ctx, e)
	if err != nil {
		w.fail(ctx, err)
		return false
	}
	return translated.Type == "" || w.send(ctx, translated)
}

func (w *watcher) concerns(key string) bool {
	if w.opts.Recursive {
		return strings.HasPrefix(key, w.key)
	}
	return key == w.key
}

// translate compares what was with what is, as the predicate sees them. The
// zero event stands for nothing to report.
func (w *watcher) translate(ctx context.Context, e *event) (storage.Event, error) {
	was, err := w.selects(ctx, e.before)
	if e.after == nil && errors.Is(err, storage.ErrCorrupt) {
		return storage.Event{}, &storage.CorruptDeletedError{Err: err}
	}
	if err != nil {
		return storage.Event{}, err
	}
	is, err := w.selects(ctx, e.after)
	if err != nil {
		return storage.Event{}, err
	}
	event := storage.Event{Entry: e.after, Revision: e.revision}
	switch {
	case is && was:
		event.Type = watch.Modified
	case is:
		event.Type = watch.Added
	case was:
		event.Type, event.Entry = watch.Deleted, e.deleted()
	default:
		return storage.Event{}, nil
	}
	return event, nil
}

func (w *watcher) selects(ctx context.Context, entry *storage.Entry) (bool, error) {
	if entry == nil {
		return false, nil
	}
	return w.opts.Predicate.MatchesEntry(ctx, entry)
}
