package watchcache

import "github.com/miniapi/miniapi/storage"

// unchanged answers a list of the latest state without entries if the resource has not changed
// since KnownRevision.
func (l *listing) unchanged() (*storage.Page, bool) {
	known := l.opts.KnownRevision
	if known <= 0 || !l.opts.Recursive || l.plan.Exact || l.opts.Limit > 0 || l.opts.Continue != "" {
		return nil, false
	}
	c, w := l.cache, &l.resource.window
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.serves(l.resource, max(l.minimum, known)) {
		return nil, false
	}
	position, ok := w.after(known)
	if events, _ := w.from(position); !ok || len(events) > 0 {
		return nil, false
	}
	return &storage.Page{Revision: c.revision, Unchanged: true}, true
}
