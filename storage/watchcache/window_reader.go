package watchcache

// reader reads the events of the window of a resource, at its own pace.
type reader struct {
	cache    *Cache
	resource *resource
	begin    int64 // the reader starts after this revision, which may be ahead of the cache
	started  bool
	position int64 // of the next event, once started

	// The result of the last read.
	batch   []*event      // the next events
	changed chan struct{} // closed when there are events after batch
	upTo    int64         // revision up to which all events were read
}

// read reads the next events. It returns false if the window no longer contains the next event, or
// the resource was removed from the cache.
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

// wholeRevisions returns the number of events in the next batch: batchSize, or more so that all
// events of a revision are in one batch.
func wholeRevisions(events []*event) int {
	n := min(len(events), batchSize)
	for n < len(events) && events[n].revision == events[n-1].revision {
		n++
	}
	return n
}
