package model

import "errors"

// What a store guarantees about watches, by the names that etcd gives these
// guarantees. Every error of [Check] wraps one of these or of those below.
var (
	// ErrOrdered: an event came after a later one.
	ErrOrdered = errors.New("Ordered: events come in the order of their revisions")
	// ErrUnique: an event came twice.
	ErrUnique = errors.New("Unique: no event comes twice")
	// ErrReliable: an event was left out.
	ErrReliable = errors.New("Reliable: no event is left out")
	// ErrResumable: a watch resumed where another one ended left something out.
	ErrResumable = errors.New("Resumable: a watch goes on where another one ended")
	// ErrBookmarkable: an event came after a bookmark of its revision.
	ErrBookmarkable = errors.New("Bookmarkable: everything up to a bookmark was delivered before it")
	// ErrTruthful: an event tells of something that did not happen.
	ErrTruthful = errors.New("Truthful: an event tells what happened")
	// ErrInitial: a watch began with something else than the state at one revision.
	ErrInitial = errors.New("Initial: a watch begins with the state at one revision, in the order of keys")
)

// What a store guarantees about reads and writes.
var (
	// ErrAcknowledged: a write was acknowledged and is not in the history.
	ErrAcknowledged = errors.New("Acknowledged: a write that is acknowledged has happened")
	// ErrExplained: a change that nobody made, or that was made twice, is in
	// the history.
	ErrExplained = errors.New("Explained: every change is one write of one client")
	// ErrNoLostUpdate: a write replaced a state which it was not made of.
	ErrNoLostUpdate = errors.New("NoLostUpdate: a write replaces the state it was made of")
	// ErrSnapshot: a list shows something else than the state at its revision.
	ErrSnapshot = errors.New("Snapshot: a list shows the state at its revision")
	// ErrLinearizable: an operation took effect before its call or after its
	// return.
	ErrLinearizable = errors.New("Linearizable: an operation takes effect between its call and its return")
	// ErrCompaction: a revision was said to be compacted and was not.
	ErrCompaction = errors.New("Compaction: only what was compacted is refused as compacted")
)
