package watchcache

import (
	"context"
	"slices"

	"github.com/miniapi/miniapi/storage"
)

// maxPending and maxPendingBytes are the changes that a follower may lag behind, and their stored
// bytes. A follower beyond them gets the complete state instead, so a slow follower does not fill
// the memory.
const (
	maxPending      = 1 << 15
	maxPendingBytes = 64 << 20
)

// follower is one call of Follow.
type follower struct {
	// wake receives a value when there is something to report.
	wake chan struct{}

	// The cache's mu guards the fields below.
	// complete means that the next report is the complete state, which includes pending.
	complete     bool
	pending      []storage.Change
	pendingBytes int
}

// Follow calls report with the current state of all keys as changes, with complete set, and then
// with all later changes in the order of their revisions. A change is reported after the cache has
// applied it. upTo is the revision up to which all changes were reported; a report may have no
// changes. After a loss of the log, or if the follower is too slow, report gets the complete
// state again; keys that are not in it were deleted. Values that cannot be read are not reported.
// Follow returns nil when ctx ends.
func (c *Cache) Follow(ctx context.Context, report func(changes []storage.Change, upTo int64, complete bool)) error {
	f := &follower{wake: make(chan struct{}, 1)}
	c.mu.Lock()
	if c.revision > 0 { // there is a state
		f.restart()
	}
	c.followers = append(c.followers, f)
	c.mu.Unlock()
	defer c.unfollow(f)
	for {
		select {
		case <-f.wake:
			report(c.take(f))
		case <-ctx.Done():
			return nil
		}
	}
}

func (c *Cache) unfollow(f *follower) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.followers = slices.DeleteFunc(c.followers, func(other *follower) bool { return other == f })
}

// push adds a change. The caller holds the cache's mu and calls notify afterwards.
func (f *follower) push(change *storage.Change) {
	switch {
	case f.complete || change.Err != nil:
	case len(f.pending) >= maxPending, f.pendingBytes >= maxPendingBytes:
		f.restart()
	default:
		f.pending = append(f.pending, *change)
		f.pendingBytes += len(change.Data)
	}
}

// restart makes the next report the complete state. The caller holds the cache's mu.
func (f *follower) restart() {
	f.complete, f.pending, f.pendingBytes = true, nil, 0
	f.notify()
}

func (f *follower) notify() {
	select {
	case f.wake <- struct{}{}:
	default: // it has not read the last value
	}
}

// take returns the next report.
func (c *Cache) take(f *follower) (changes []storage.Change, upTo int64, complete bool) {
	c.mu.Lock()
	upTo = c.revision
	if !f.complete {
		defer c.mu.Unlock()
		changes, f.pending, f.pendingBytes = f.pending, nil, 0
		return changes, upTo, false
	}
	f.complete = false
	states := []*snapshot{c.unclaimed[0].tree.snapshot()}
	for _, readers := range c.resources {
		if readers[0].tree.entries.Len() > 0 {
			states = append(states, readers[0].tree.snapshot())
		}
	}
	c.mu.Unlock()
	for _, state := range states {
		state.ascend("", "", func(entry *storage.Entry) bool {
			if entry.Data() != nil {
				changes = append(changes, storage.Change{Key: entry.Key, Revision: entry.Revision, Data: entry.Data()})
			}
			return true
		})
	}
	return changes, upTo, true
}
