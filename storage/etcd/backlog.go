package etcd

import "github.com/miniapi/miniapi/storage"

// backlog queues events for a slow consumer. Without it they would accumulate in the client, which
// has no limit.
type backlog struct {
	limit int // in bytes
	size  int
	first int
	queue []queuedEvent
}

type queuedEvent struct {
	storage.Event
	size int
}

func (b *backlog) empty() bool { return b.first == len(b.queue) }

// overflowed reports whether the events exceed the limit.
func (b *backlog) overflowed() bool { return b.size > b.limit }

// head returns the channel and the oldest event for a send in a select. The channel is nil, so that
// the select never sends, if the backlog is empty.
func (b *backlog) head(to chan<- storage.Event) (chan<- storage.Event, storage.Event) {
	if b.empty() {
		return nil, storage.Event{}
	}
	return to, b.queue[b.first].Event
}

func (b *backlog) push(e storage.Event, size int) {
	b.queue = append(b.queue, queuedEvent{Event: e, size: size})
	b.size += size
}

func (b *backlog) pop() {
	b.size -= b.queue[b.first].size
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
