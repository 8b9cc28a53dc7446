package storage

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// Entry is one version of one object.
//
// Invariant: an entry never changes after it is published, and neither does
// its object. Entries are safe for concurrent use and may be shared.
type Entry struct {
	// Key under which it is stored, without the implementation's prefix.
	Key string
	// Revision of its last write (ModRevision); in a Deleted event and in the
	// result of a deletion the revision of the deletion; 0 in a dry-run create.
	Revision int64

	object func() (runtime.Object, error)
}

// NewEntry returns an entry whose object decode makes when it is first asked
// for. decode must return an object already stamped with revision.
func NewEntry(key string, revision int64, decode func() (runtime.Object, error)) *Entry {
	return &Entry{Key: key, Revision: revision, object: sync.OnceValues(decode)}
}

// Object returns the decoded object, which must not be written to. An error
// means that the stored bytes cannot be read: it wraps ErrCorrupt.
func (e *Entry) Object() (runtime.Object, error) {
	return e.object()
}
