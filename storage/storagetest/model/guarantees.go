package model

import "errors"

// The guarantees about watches, with the names that etcd uses. Every error of [Check] wraps one of
// these errors or one of the errors below.
var (
	// ErrOrdered: an event came after a later event.
	ErrOrdered = errors.New("Ordered: events come in the order of their revisions")
	// ErrUnique: an event came twice.
	ErrUnique = errors.New("Unique: no event comes twice")
	// ErrReliable: an event is missing.
	ErrReliable = errors.New("Reliable: no event is missing")
	// ErrResumable: an event is missing after a watch was resumed.
	ErrResumable = errors.New("Resumable: a resumed watch continues without a gap")
	// ErrBookmarkable: an event came after a bookmark of its revision or a later one.
	ErrBookmarkable = errors.New("Bookmarkable: all events up to a bookmark precede it")
	// ErrTruthful: an event describes a change that did not happen.
	ErrTruthful = errors.New("Truthful: an event describes a change that happened")
	// ErrInitial: the initial events are not the state at one revision.
	ErrInitial = errors.New("Initial: a watch starts with the state at one revision, in the order of keys")
)

// The guarantees about reads and writes.
var (
	// ErrAcknowledged: an acknowledged write is not in the history.
	ErrAcknowledged = errors.New("Acknowledged: an acknowledged write has happened")
	// ErrExplained: a change in the history has no write, or several.
	ErrExplained = errors.New("Explained: every change is one write of one client")
	// ErrNoLostUpdate: a write replaced a state that it was not based on.
	ErrNoLostUpdate = errors.New("NoLostUpdate: a write replaces the state that it is based on")
	// ErrSnapshot: a list differs from the state at its revision.
	ErrSnapshot = errors.New("Snapshot: a list shows the state at its revision")
	// ErrLinearizable: an operation took effect before its call or after its return.
	ErrLinearizable = errors.New("Linearizable: an operation takes effect between its call and its return")
	// ErrCompaction: a revision was reported as compacted but was not.
	ErrCompaction = errors.New("Compaction: only compacted revisions are rejected as compacted")
)
