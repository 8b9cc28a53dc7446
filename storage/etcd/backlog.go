package etcd

import (
	"sync/atomic"

	"github.com/miniapi/miniapi/storage"
)

// A watch may queue this part of the limit of all watches.
const backlogShare = 16

// backlogLimit limits the bytes of the events that all watches queue.
type backlogLimit struct {
	bytes int64
	used  atomic.Int64
}

// backlog queues events for a slow consumer. Without it they would accumulate in the client, which
// has no limit.
type backlog struct {
	limit *backlogLimit
	size  int64 // in bytes
	first int
	queue []queuedEvent
}

type queuedEvent struct {
	storage.Event
	size int64
}

func (b *backlog) empty() bool { return b.first == len(b.queue) }

// full reports whether the watch must not queue more events: its own events, or the events of all
// watches, exceed the limit.
func (b *backlog) full() bool {
	return !b.empty() && (b.size > b.limit.bytes/backlogShare || b.limit.used.Load() > b.limit.bytes)
}

// head returns the channel and the oldest event for a send in a select. The channel is nil, so that
// the select never sends, if the backlog is empty.
func (b *backlog) head(to chan<- storage.Event) (chan<- storage.Event, storage.Event) {
	if b.empty() {
		return nil, storage.Event{}
	}
	return to, b.queue[b.first].Event
}

func (b *backlog) push(e storage.Event, size int) {
	b.queue = append(b.queue, queuedEvent{Event: e, size: int64(size)})
	b.add(int64(size))
}

func (b *backlog) pop() {
	b.add(-b.queue[b.first].size)
	b.queue[b.first] = queuedEvent{}
	b.first++
	switch {
	case b.empty():
		b.queue, b.first = b.queue[:0], 0
	case b.first >= len(b.queue)/2 && b.first >= 1024:
		b.queue = append(b.queue[:0], b.queue[b.first:]...)
		b.first = 0
	}
}

// drop removes all events.
func (b *backlog) drop() {
	b.add(-b.size)
	b.queue, b.first = nil, 0
}

func (b *backlog) add(size int64) {
	b.size += size
	b.limit.used.Add(size)
}
