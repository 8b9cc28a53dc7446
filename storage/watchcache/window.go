package watchcache

import (
	"sort"
	"sync/atomic"

	"github.com/miniapi/miniapi/storage"
)

// eventOverhead is an estimate of the memory of an event without its stored bytes.
const eventOverhead = 256

// event is one change of one key, shared by all watchers.
type event struct {
	revision int64
	key      string
	before   *storage.Entry // nil: the key did not exist
	after    *storage.Entry // nil: the key was deleted
	removal  atomic.Pointer[storage.Entry]
}

// deleted returns the entry before the event, with the revision of the event.
func (e *event) deleted() *storage.Entry {
	if entry := e.removal.Load(); entry != nil {
		return entry
	}
	e.removal.CompareAndSwap(nil, e.before.At(e.revision))
	return e.removal.Load()
}

func (e *event) size() int {
	size := eventOverhead
	for _, entry := range []*storage.Entry{e.before, e.after} {
		if entry != nil {
			size += len(entry.Data())
		}
	}
	return size
}

// window holds the latest events of a resource, in order. Positions count all events ever pushed,
// so that a reader detects that the events at its position were dropped.
type window struct {
	events []*event
	first  int   // index of the oldest event
	offset int64 // position of events[first]
	bytes  int
	// since is the revision after which the window has all events.
	since int64
}

// push adds an event and drops the oldest events beyond the limits.
func (w *window) push(e *event, config *Config) {
	w.events = append(w.events, e)
	w.bytes += e.size()
	for w.len() > config.WindowEvents || w.bytes > config.WindowBytes && w.len() > 1 {
		w.drop()
	}
}

func (w *window) drop() {
	oldest := w.events[w.first]
	w.since = oldest.revision
	w.bytes -= oldest.size()
	w.events[w.first] = nil
	w.first++
	w.offset++
	if w.first > len(w.events)/2 {
		w.events = append(w.events[:0], w.events[w.first:]...)
		clear(w.events[len(w.events):cap(w.events)])
		w.first = 0
	}
}

func (w *window) len() int { return len(w.events) - w.first }

// end returns the position after the latest event.
func (w *window) end() int64 { return w.offset + int64(w.len()) }

// latest returns the revision of the latest event. Without events, that is the revision after which
// the window has all events.
func (w *window) latest() int64 {
	if w.len() == 0 {
		return w.since
	}
	return w.events[len(w.events)-1].revision
}

// after returns the position of the first event after revision. It is false if the window does not
// reach back to revision.
func (w *window) after(revision int64) (position int64, ok bool) {
	if revision < w.since {
		return 0, false
	}
	kept := w.events[w.first:]
	i := sort.Search(len(kept), func(i int) bool { return kept[i].revision > revision })
	return w.offset + int64(i), true
}

// from returns the events from a position on, which may be none. It is false if the events at the
// position have been dropped. The slice is valid while the window does not change.
func (w *window) from(position int64) ([]*event, bool) {
	if position < w.offset {
		return nil, false
	}
	return w.events[w.first+int(position-w.offset):], true
}
