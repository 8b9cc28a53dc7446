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

	data    []byte
	decoder *Decoder
	object  func() (runtime.Object, error)
}

// Decoder makes entries of the bytes at rest. All entries of a resource share
// one.
type Decoder struct {
	// Decode returns the object of data, stamped with revision. An error wraps
	// ErrCorrupt.
	Decode func(key string, revision int64, data []byte) (runtime.Object, error)
}

// Entry returns the entry of data, which must not be written to any more. It is
// decoded when its object is first asked for.
func (d *Decoder) Entry(key string, revision int64, data []byte) *Entry {
	e := &Entry{Key: key, Revision: revision, data: data, decoder: d}
	e.object = sync.OnceValues(e.decode)
	return e
}

// NewEntry returns the entry of an object that is not stored as bytes: make
// returns it, already stamped with revision, when it is first asked for.
func NewEntry(key string, revision int64, make func() (runtime.Object, error)) *Entry {
	return &Entry{Key: key, Revision: revision, object: sync.OnceValues(make)}
}

// Object returns the decoded object, which must not be written to. An error
// means that the stored bytes cannot be read: it wraps ErrCorrupt.
func (e *Entry) Object() (runtime.Object, error) {
	return e.object()
}

// Data returns the bytes at rest as the codec made them, which must not be
// written to; nil for an entry that was not made of such.
func (e *Entry) Data() []byte { return e.data }

// At returns the same object as an entry of another revision: that of its
// deletion.
func (e *Entry) At(revision int64) *Entry {
	return e.decoder.Entry(e.Key, revision, e.data)
}

func (e *Entry) decode() (runtime.Object, error) {
	return e.decoder.Decode(e.Key, e.Revision, e.data)
}
