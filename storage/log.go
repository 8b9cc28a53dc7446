package storage

import "context"

// Log is everything that happens to the keys of all resources, in its order. It
// is what a cache is fed from. All methods are safe for concurrent use.
type Log interface {
	// State shows every key to visit, all as they were at one revision, which it
	// returns.
	State(ctx context.Context, visit func(Change)) (revision int64, err error)

	// Follow reports what happens after a revision until ctx ends, which is no
	// error, or it cannot go on: ErrCompacted if changes are lost. Each report
	// holds whole revisions, complete up to upTo. It may be empty: upTo tells
	// then that nothing happened. One comes soon after each receive from ask.
	Follow(ctx context.Context, after int64, ask <-chan struct{}, report func(changes []Change, upTo int64)) error

	// CurrentRevision is not before any write that was acknowledged, nor any
	// state that was read, before the call.
	CurrentRevision(ctx context.Context) (int64, error)

	// Retains returns ErrCompacted if the state at revision is gone, nil if it is
	// there or still to come.
	Retains(ctx context.Context, revision int64) error
}

// Change is what one write did to one key.
type Change struct {
	Key      string
	Revision int64
	Deleted  bool
	// Data is the new value as the codec made it, nil for a deletion.
	Data []byte
	// Err wraps ErrCorrupt where the value at rest cannot be read.
	Err error
}
