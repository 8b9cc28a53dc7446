package watchcache

import (
	"context"
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

func (w *watcher) concerns(key string) bool {
	if w.opts.Recursive {
		return strings.HasPrefix(key, w.key)
	}
	return key == w.key
}
