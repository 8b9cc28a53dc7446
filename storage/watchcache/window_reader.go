package watchcache

import "github.com/miniapi/miniapi/storage"

// reader reads the events of the window of a resource, at its own pace.
type reader struct {
	cache    *Cache
	resource *resource
	begin    int64 // the reader starts after this revision, which may be ahead of the cache
	started  bool
	position int64 // of the next event, once started

	// scope contains all events that a waiting reader needs. The other events may be left out. It
	// is empty for a reader that never waits.
	scope scope
	attrs storage.AttrFunc // of the field of scope
	// waiting is set if there was no event to read and scope is not empty.
	waiting *subscription

	// The result of the last read.
	batch []*event // the next events
	upTo  int64    // revision up to which all events of the scope were read
}

// read reads the next events. It returns false if the window no longer contains the next event, or
// the resource was removed from the cache.
func (r *reader) read() bool {
	r.cache.mu.RLock()
	defer r.cache.mu.RUnlock()
	r.skip()
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
	if len(next) > 0 {
		r.upTo = next[len(next)-1].revision
		return true
	}
	r.upTo = r.cache.revision
	if r.waiting == nil && r.scope.key != "" {
		r.waiting = r.resource.subscriptions.join(r.scope, r.attrs)
	}
	return true
}

// skip skips the events outside the scope that were published while the reader waited.
func (r *reader) skip() {
	if r.waiting == nil {
		return
	}
	select {
	case <-r.waiting.ready:
		r.position = max(r.position, r.waiting.position)
		r.upTo = max(r.upTo, r.waiting.revision)
		r.waiting = nil
	default:
		r.position = r.resource.window.end()
	}
}

// stop ends the wait of the reader.
func (r *reader) stop() {
	if r.waiting != nil {
		r.resource.subscriptions.leave(r.scope, r.waiting)
		r.waiting = nil
	}
}

// wholeRevisions returns the number of events in the next batch: as many as batchSize and
// batchBytes allow, or more so that all events of a revision are in one batch.
func wholeRevisions(events []*event) int {
	n := 0
	for bytes := 0; n < min(len(events), batchSize) && bytes < batchBytes; n++ {
		bytes += events[n].size()
	}
	for 0 < n && n < len(events) && events[n].revision == events[n-1].revision {
		n++
	}
	return n
}
