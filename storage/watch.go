package storage

import (
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// Watcher delivers events until it is stopped, its context ends, or it fails.
type Watcher interface {
	// Events is closed when the watch is over. Within it, revisions never go
	// back once the initial events are through, no event comes twice, and none
	// is left out. The last event before the channel closes may be of type
	// Error.
	Events() <-chan Event
	// Stop ends the watch and returns once nothing of it runs any more. It is
	// idempotent and may be called from any goroutine.
	Stop()
}

// Event is one thing that happened.
type Event struct {
	// Type is Added, Modified, Deleted, Bookmark or Error. With a predicate,
	// an object that starts to match is Added and one that stops is Deleted.
	Type watch.EventType
	// Entry is nil in Bookmark and Error events. In a Deleted event it is the
	// last state (for one that stopped matching, the last that matched),
	// stamped with the revision of the event.
	Entry *Entry
	// Revision of the event. In a Bookmark: everything up to it was delivered.
	Revision int64
	// InitialEventsEnd marks the Bookmark which ends the initial events. It is
	// sent whenever there were initial events, asked for or not.
	InitialEventsEnd bool
	// Err is set in an Error event: ErrCompacted if the watch fell behind
	// compaction.
	Err error
}

// ProgressTicks returns when a store tells a watch how far it has come, which is
// never if nobody wants to know. stop frees what it takes.
func (o WatchOptions) ProgressTicks(interval time.Duration) (ticks <-chan time.Time, stop func()) {
	if !o.ProgressNotify {
		return nil, func() {}
	}
	ticker := time.NewTicker(interval)
	return ticker.C, ticker.Stop
}
