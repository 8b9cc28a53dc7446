package lifecycle

import "github.com/miniapi/miniapi/api/request"

// LateWatch is a watch that has not sent all events.
type LateWatch struct {
	OpenRequest
	// Watch is nil if the watch has not begun.
	Watch *request.Watch
}

// Changed returns a channel that is closed when the open requests, or the progress of a watch,
// change.
func (t *Tracker) Changed() <-chan struct{} { return t.changed.Changed() }

// Notify closes the channels of Changed. It is called when a watch has advanced.
func (t *Tracker) Notify() { t.changed.Notify() }

// OpenCalls returns the open requests that are not watches, oldest first.
func (t *Tracker) OpenCalls() []OpenRequest {
	var open []OpenRequest
	t.each(func(r *Request, info *request.Info) {
		if info.Verb != "watch" && info.Watch() == nil {
			open = append(open, r.describe())
		}
	})
	return open
}

// LateWatches returns the watches that have not sent all events up to a revision, oldest first, and
// requests their progress: Changed notifies of it. Watches of other servers and of virtual
// resources are left out, because their revisions are not revisions of the store.
func (t *Tracker) LateWatches(revision int64) []LateWatch {
	var late []LateWatch
	t.each(func(r *Request, info *request.Info) {
		watch := info.Watch()
		if watch == nil && info.Verb == "watch" && !info.IsForwarded() || watch != nil && !watch.IsComplete(revision) {
			late = append(late, LateWatch{OpenRequest: r.describe(), Watch: watch})
		}
	})
	return late
}

// each calls visit with each open request, oldest first.
func (t *Tracker) each(visit func(*Request, *request.Info)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for r := t.open.root.next; r != t.open.root; r = r.next {
		visit(r, request.InfoFrom(r.request))
	}
}
