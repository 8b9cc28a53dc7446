package watchcache

import (
	"context"
	"slices"
	"sync"
	"time"
)

// askAfter is how long a reader waits before it has the log asked how far it
// has come: what was written to the cache's keys arrives by itself.
const askAfter = 5 * time.Millisecond

// waitAtMost is how long a reader waits before it asks the storage instead.
const waitAtMost = 3 * time.Second

// waiters wait for a revision.
type waiters struct {
	mu   sync.Mutex // guards list
	list []waiter
}

type waiter struct {
	revision int64
	// reached receives true when the revision has come, false if it may not.
	reached chan bool
}

func (w *waiters) add(revision int64) waiter {
	added := waiter{revision: revision, reached: make(chan bool, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, added)
	return added
}

func (w *waiters) remove(gone waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(other waiter) bool { return other.reached == gone.reached })
}

// wake lets those go who wait for no more than revision.
func (w *waiters) wake(revision int64) {
	w.release(func(waiting waiter) bool { return waiting.revision <= revision }, true)
}

// giveUp lets everybody go with empty hands.
func (w *waiters) giveUp() {
	w.release(func(waiter) bool { return true }, false)
}

func (w *waiters) release(selected func(waiter) bool, reached bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(waiting waiter) bool {
		if !selected(waiting) {
			return false
		}
		waiting.reached <- reached
		return true
	})
}

// await returns true when the cache has reached revision, false if the storage
// behind has to be asked: the log is lost or stands still, or ctx has ended.
func (c *Cache) await(ctx context.Context, revision int64) bool {
	if !c.loaded.Load() {
		return false
	}
	if c.reached.Load() >= revision {
		return true
	}
	waiting := c.waiters.add(revision)
	if c.reached.Load() >= revision || !c.loaded.Load() { // it came, or went, in between
		c.waiters.remove(waiting)
		return c.loaded.Load()
	}
	defer c.telemetry.waited(time.Now())
	ticks := time.NewTicker(askAfter)
	defer ticks.Stop()
	ctx, cancel := context.WithTimeout(ctx, waitAtMost)
	defer cancel()
	for {
		select {
		case reached := <-waiting.reached:
			return reached
		case <-ticks.C:
			c.askProgress()
		case <-ctx.Done():
			c.waiters.remove(waiting)
			return false
		}
	}
}

func (c *Cache) askProgress() {
	select {
	case c.ask <- struct{}{}:
	default: // somebody has asked already
	}
}

// raise keeps later reads from going back before revision.
func (c *Cache) raise(revision int64) {
	for {
		floor := c.floor.Load()
		if floor >= revision || c.floor.CompareAndSwap(floor, revision) {
			return
		}
	}
}
