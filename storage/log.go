package storage

import "context"

// Log is the ordered log of the changes of all keys of all resources. It feeds a cache. All methods
// are safe for concurrent use.
type Log interface {
	// State calls visit with every key, all of them at one revision, and returns that revision.
	State(ctx context.Context, visit func(Change)) (revision int64, err error)

	// Follow reports the changes after a revision until ctx ends, and returns nil then. It returns
	// ErrCompacted if changes are lost, and other errors if it cannot continue. Each report
	// contains whole revisions and completes the log up to upTo. A report without changes says that
	// there were none up to upTo. After each receive from requests a report follows soon.
	Follow(ctx context.Context, after int64, requests <-chan struct{}, report func(changes []Change, upTo int64)) error

	// CurrentRevision returns a revision that includes every write that was acknowledged, and every
	// state that was read, before the call.
	CurrentRevision(ctx context.Context) (int64, error)

	// Retains returns ErrCompacted if the state at revision was compacted, nil if it is available
	// or the revision is ahead of the store.
	Retains(ctx context.Context, revision int64) error
}

// Change is the effect of one write on one key.
type Change struct {
	Key      string
	Revision int64
	Deleted  bool
	// Data is the new value as the codec encoded it, nil for a deletion.
	Data []byte
	// Err wraps ErrCorrupt if the stored value cannot be read.
	Err error
}
