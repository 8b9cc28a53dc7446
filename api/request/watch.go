package request

import "sync/atomic"

// Watch describes an open watch. The fields do not change; the methods are safe for concurrent use.
type Watch struct {
	User, LabelSelector, FieldSelector string
	// Start is the revision after which the watch reports changes, 0 if it begins with the current
	// state.
	Start int64
	// Backlog returns the changes that the client was not sent. It is safe for concurrent use.
	Backlog func() Backlog
	// Requests receives requests to update Complete. Nil: revisions of the watch are not revisions
	// of the store.
	Requests chan struct{}

	sent, events, complete atomic.Int64
}

// Backlog is the distance of a watch from the latest change of its resource.
type Backlog struct {
	// Latest is the revision of the latest change of the resource, 0 if it is not known.
	Latest int64
	// Waiting is the number of changes that were not sent: selected ones, and ones that were not
	// examined yet.
	Waiting int64
}

// Sent records an event or bookmark that was written to the connection. It does nothing on a nil
// Watch.
func (w *Watch) Sent(revision int64) {
	if w != nil {
		w.sent.Store(revision)
		w.events.Add(1)
	}
}

// Revision returns the revision of the last event or bookmark that was sent, or Start.
func (w *Watch) Revision() int64 { return max(w.sent.Load(), w.Start) }

// Events returns the number of events and bookmarks that were sent.
func (w *Watch) Events() int64 { return w.events.Load() }

// SetComplete records a revision up to which all events were written to the connection. It reports
// whether the revision is a new one.
func (w *Watch) SetComplete(revision int64) bool {
	if w == nil || revision <= w.complete.Load() {
		return false
	}
	w.complete.Store(revision)
	return true
}

// IsComplete reports whether all events up to a revision were written to the connection. If that is
// not known, it requests the progress of the watch.
func (w *Watch) IsComplete(revision int64) bool {
	if w.Requests == nil || w.complete.Load() >= revision {
		return true
	}
	select {
	case w.Requests <- struct{}{}:
	default: // a request is open
	}
	return false
}

// SetForwarded marks a request that another server answers.
func (i *Info) SetForwarded() {
	i.forwarded.Store(true)
	i.SetInitialized()
}

// SetInitialized calls Initialized, if it is set.
func (i *Info) SetInitialized() {
	if i.Initialized != nil {
		i.Initialized()
	}
}

// IsForwarded reports whether another server answers the request. It may be called by any goroutine
// at any time.
func (i *Info) IsForwarded() bool { return i.forwarded.Load() }

// SetWatch publishes the watch of a request.
func (i *Info) SetWatch(w *Watch) { i.watch.Store(w) }

// Watch returns the watch of a request, nil if there is none. Unlike the fields of Info, it may be
// called by any goroutine at any time.
func (i *Info) Watch() *Watch { return i.watch.Load() }
