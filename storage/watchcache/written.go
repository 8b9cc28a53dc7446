package watchcache

import (
	"bytes"

	"github.com/miniapi/miniapi/storage"
)

// writtenKey identifies a write.
type writtenKey struct {
	key      string
	revision int64
}

// share returns the entry that the cache has, or will have, for a write of this server. What the
// response decodes and encodes is then not made again for watches and reads. It returns the entry
// of the write if the cache may not answer, or if the resource has no watches: without them most
// objects are not read before their next write.
func (c *Cache) share(r *resource, written *storage.Entry) *storage.Entry {
	if written.Data() == nil || r.watches.Load() == 0 {
		return written
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serves(r, 0) {
		return written
	}
	if c.revision >= written.Revision {
		if cached := r.tree.get(written.Key); cached != nil && sameWrite(cached, written) {
			return cached
		}
		return written
	}
	shared := r.decoder.Entry(written.Key, written.Revision, written.Data())
	if r.written == nil {
		r.written = map[writtenKey]*storage.Entry{}
	}
	r.written[writtenKey{shared.Key, shared.Revision}] = shared
	return shared
}

// sameWrite reports whether two entries of a key hold the same write.
func sameWrite(a, b *storage.Entry) bool {
	return a.Revision == b.Revision && bytes.Equal(a.Data(), b.Data())
}

// take returns the shared entry of a change, and otherwise a new one. The caller holds the mu of
// the cache.
func (r *resource) take(change *storage.Change) *storage.Entry {
	entry := r.entry(change)
	key := writtenKey{change.Key, change.Revision}
	shared := r.written[key]
	if shared == nil {
		return entry
	}
	delete(r.written, key)
	if sameWrite(shared, entry) {
		return shared
	}
	return entry
}
