package storage

import (
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// Watcher delivers events until it is stopped, its context ends, or it fails.
type Watcher interface {
	// Events returns the channel of the events. After the initial events their revisions never
	// decrease, and every event is delivered exactly once. The channel is closed when the watch
	// ends. The last event may be of type Error.
	Events() <-chan Event
	// Stop ends the watch and waits until its goroutines have ended. It is idempotent and may be
	// called from any goroutine.
	Stop()
	// Progress returns how far the watch has read. It may be called from any goroutine.
	Progress() WatchProgress
}

// WatchProgress is the position of a watch among the changes of its resource. The zero value means
// that the position is not known.
type WatchProgress struct {
	// Latest is the revision of the latest change of the resource, whether selected or not.
	Latest int64
	// Unread is the number of changes of the resource that the watch has not examined yet.
	Unread int64
}

// Event is an event of a watch.
type Event struct {
	// Type is Added, Modified, Deleted, Bookmark or Error. With a predicate, an object that starts
	// to match is Added and one that stops is Deleted.
	Type watch.EventType
	// Entry is nil in Bookmark and Error events. In a Deleted event it is the last state that
	// matched, stamped with the revision of the event.
	Entry *Entry
	// Revision of the event. A Bookmark says that all events up to it were delivered.
	Revision int64
	// InitialEventsEnd marks the Bookmark that ends the initial events. Every watch with initial
	// events sends it.
	InitialEventsEnd bool
	// Err is set in an Error event. It is ErrCompacted if the watch fell behind compaction.
	Err error
}

// ProgressTicks returns a channel that receives a value whenever the store must send a progress
// Bookmark. It is nil without ProgressNotify. The caller must call stop.
func (o WatchOptions) ProgressTicks(interval time.Duration) (ticks <-chan time.Time, stop func()) {
	if !o.ProgressNotify {
		return nil, func() {}
	}
	ticker := time.NewTicker(interval)
	return ticker.C, ticker.Stop
}
