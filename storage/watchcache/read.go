package watchcache

import (
	"errors"
	"slices"

	"github.com/miniapi/miniapi/storage"
)

// errNotCached means that the cache may not answer, so that the storage must.
var errNotCached = errors.New("not in the watch cache")

// serves reports whether the cache may answer for a resource, at minimum or later. The result is
// valid while mu is held, so callers read the state under the same lock.
func (c *Cache) serves(r *resource, minimum int64) bool {
	return !r.removed && c.loaded.Load() && c.revision >= minimum
}

// get returns the entry under key, nil if there is none. The error is errNotCached.
func (c *Cache) get(r *resource, key string, minimum int64) (*storage.Entry, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.serves(r, minimum) {
		return nil, errNotCached
	}
	return r.tree.get(key), nil
}

// snapshot returns the state of a resource, at minimum or later, and its revision. The error is
// errNotCached.
func (c *Cache) snapshot(r *resource, minimum int64) (*snapshot, int64, error) {
	c.mu.RLock()
	if shared := r.tree.shared; shared != nil && c.serves(r, minimum) {
		defer c.mu.RUnlock()
		return shared, c.revision, nil
	}
	c.mu.RUnlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serves(r, minimum) {
		return nil, 0, errNotCached
	}
	return r.tree.snapshot(), c.revision, nil
}

// snapshotAt returns the state of a resource at exactly this revision. It returns errNotCached if
// the window does not reach back to the revision, or the cache may not answer.
func (c *Cache) snapshotAt(r *resource, revision int64) (*snapshot, error) {
	c.mu.Lock()
	position, ok := r.window.after(revision)
	if !ok || !c.serves(r, revision) {
		c.mu.Unlock()
		return nil, errNotCached
	}
	events, _ := r.window.from(position)
	if len(events) == 0 {
		defer c.mu.Unlock()
		return r.tree.snapshot(), nil
	}
	events = slices.Clone(events)
	past := r.tree.entries.Clone()
	c.mu.Unlock()
	return undo(past, events), nil
}

// continues reports whether a watch that has fallen behind the window can return to it at a
// revision. The window must reach back further than necessary, so that the watch does not fall
// behind again at once.
func (c *Cache) continues(r *resource, revision int64) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	position, ok := r.window.after(revision)
	return ok && c.serves(r, revision) && r.window.end()-position <= int64(r.window.len()/2)
}

// size returns the number of objects of a resource.
func (c *Cache) size(r *resource) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return r.tree.entries.Len()
}
