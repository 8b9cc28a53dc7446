package informer

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
)

// queue holds the changes that Handle has not seen. The numbers count changes since New.
type queue struct {
	changes         []Change
	queued, handled uint64
	// progress is closed when handled rises.
	progress chan struct{}
}

func newQueue() queue { return queue{progress: make(chan struct{})} }

// merge updates the known set from a list and returns the number of changes queued so far.
func (i *Informer) merge(page *storage.Page) uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, change := range i.state.replace(page) {
		i.record(change)
	}
	return i.queue.queued
}

// apply updates the known set from an event.
func (i *Informer) apply(event storage.Event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if change, ok := i.state.apply(event); ok {
		i.record(change)
	}
}

// record notes a change of the known set. It is called with mu held.
func (i *Informer) record(change Change) {
	i.generation.Add(1)
	i.enqueue(change)
}

// enqueue is called with mu held.
func (i *Informer) enqueue(change Change) {
	if i.config.Handle != nil {
		i.queue.changes = append(i.queue.changes, change)
		i.queue.queued++
	}
}

// handle calls Handle for a change. A list does not show that an object was deleted and created
// again since the last event: its UID does, and Handle gets two changes.
func (i *Informer) handle(ctx context.Context, change Change) {
	if change.listed && change.Old != nil && change.New != nil {
		before, after := uid(ctx, change.Old), uid(ctx, change.New)
		if before != after && before != "" && after != "" {
			i.config.Handle(ctx, Change{Key: change.Key, Old: change.Old})
			change.Old = nil
		}
	}
	i.config.Handle(ctx, change)
}

// uid returns "" for an object that cannot be decoded.
func uid(ctx context.Context, entry *storage.Entry) types.UID {
	obj, err := entry.ObjectContext(ctx)
	if err != nil {
		return ""
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return accessor.GetUID()
}

// handleQueued calls Handle for the queued changes.
func (i *Informer) handleQueued(ctx context.Context) {
	for {
		i.mu.Lock()
		changes := i.queue.changes
		i.queue.changes = nil
		i.mu.Unlock()
		if len(changes) == 0 {
			return
		}
		for _, change := range changes {
			if ctx.Err() != nil {
				return
			}
			i.handle(ctx, change)
		}
		i.mu.Lock()
		i.queue.handled += uint64(len(changes))
		close(i.queue.progress)
		i.queue.progress = make(chan struct{})
		i.mu.Unlock()
	}
}

// awaitHandled blocks until n changes are handled, or returns the error of ctx.
func (i *Informer) awaitHandled(ctx context.Context, n uint64) error {
	for {
		i.mu.Lock()
		handled, progress := i.queue.handled, i.queue.progress
		i.mu.Unlock()
		if handled >= n {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Retry makes Run call Handle again for an object after RetryInterval, unless it is deleted by
// then. It must be called by Handle. Sync does not wait for the call.
func (i *Informer) Retry(key string) {
	if !slices.Contains(i.retries, key) {
		i.retries = append(i.retries, key)
	}
	if i.retry == nil {
		i.retry = time.After(RetryInterval)
	}
}

// queueRetries queues the objects to handle again.
func (i *Informer) queueRetries() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, key := range i.retries {
		if entry := i.state.entries[key]; entry != nil {
			i.enqueue(Change{Key: key, Old: entry, New: entry})
		}
	}
	i.retries, i.retry = nil, nil
}
