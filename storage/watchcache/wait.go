package watchcache

import (
	"context"
	"slices"
	"sync"
	"time"
)

// progressRequestInterval is how long a reader waits before it requests the log's progress. Writes
// to the cache's own keys arrive without a request.
const progressRequestInterval = 5 * time.Millisecond

// maxWait is how long a reader waits for the cache before it reads from the storage.
const maxWait = 3 * time.Second

// waiters are the readers that wait for a revision.
type waiters struct {
	mu   sync.Mutex // guards list
	list []waiter
}

type waiter struct {
	revision int64
	// done receives true when the revision has been applied, or false when the wait is cancelled.
	done chan bool
}

func (w *waiters) add(revision int64) waiter {
	added := waiter{revision: revision, done: make(chan bool, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, added)
	return added
}

func (w *waiters) remove(removed waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(other waiter) bool { return other.done == removed.done })
}

// wake ends the waits for revisions up to revision.
func (w *waiters) wake(revision int64) {
	w.release(func(waiting waiter) bool { return waiting.revision <= revision }, true)
}

// cancel ends all waits without success.
func (w *waiters) cancel() {
	w.release(func(waiter) bool { return true }, false)
}

func (w *waiters) release(selected func(waiter) bool, applied bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(waiting waiter) bool {
		if !selected(waiting) {
			return false
		}
		waiting.done <- applied
		return true
	})
}

// await returns true when the cache has applied revision, and false if the storage must answer:
// the log is lost or stalled, or ctx has ended.
func (c *Cache) await(ctx context.Context, revision int64) bool {
	if !c.loaded.Load() {
		return false
	}
	if c.applied.Load() >= revision {
		return true
	}
	waiting := c.waiters.add(revision)
	if c.applied.Load() >= revision || !c.loaded.Load() { // changed in the meantime
		c.waiters.remove(waiting)
		return c.loaded.Load()
	}
	defer c.telemetry.waited(time.Now())
	ticks := time.NewTicker(progressRequestInterval)
	defer ticks.Stop()
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		select {
		case applied := <-waiting.done:
			return applied
		case <-ticks.C:
			c.requestProgress()
		case <-ctx.Done():
			c.waiters.remove(waiting)
			return false
		}
	}
}

// Sync waits until the cache has applied a revision, or is not able to, and raises the minimum
// revision of later answers to it.
func (c *Cache) Sync(ctx context.Context, revision int64) {
	c.raiseMinimum(revision)
	c.await(ctx, revision)
}

func (c *Cache) requestProgress() {
	select {
	case c.progressRequests <- struct{}{}:
	default: // a request is pending
	}
}

// raiseMinimum sets the minimum revision of later answers to revision, unless it is higher
// already.
func (c *Cache) raiseMinimum(revision int64) {
	for {
		minimum := c.minimum.Load()
		if minimum >= revision || c.minimum.CompareAndSwap(minimum, revision) {
			return
		}
	}
}
