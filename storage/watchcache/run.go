package watchcache

import (
	"context"
	"errors"
	"time"

	"github.com/miniapi/miniapi/storage"
)

// retryAfter is the delay before the log is followed again.
const retryAfter = 100 * time.Millisecond

// Run keeps the cache up to date until ctx ends, which is no error. After a loss of the log it
// continues from the last applied revision or, if that is not possible, loads the state again.
func (c *Cache) Run(ctx context.Context) error {
	defer c.unload()
	for ctx.Err() == nil {
		err := c.feed(ctx)
		if ctx.Err() != nil {
			return nil
		}
		c.reload = errors.Is(err, storage.ErrCompacted)
		c.telemetry.losses.Inc()
		c.cfg.Logger.WarnContext(ctx, "watch cache: the log is lost, reads go to the storage until it is restored", "error", err)
		c.unload()
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
	return nil
}

// feed follows the log. It returns when the log cannot be followed any more.
func (c *Cache) feed(ctx context.Context) error {
	revision := c.applied.Load()
	if c.reload {
		revision = 0
	}
	if revision > 0 {
		// If the log still has all changes, the windows stay valid and watches are not affected.
		if err := c.cfg.Log.Retains(ctx, revision); errors.Is(err, storage.ErrCompacted) {
			revision = 0
		} else if err != nil {
			return err
		}
	}
	if revision == 0 {
		var err error
		if revision, err = c.load(ctx); err != nil {
			return err
		}
	}
	c.resume()
	return c.cfg.Log.Follow(ctx, revision, c.progressRequests, c.apply)
}

// load replaces the state by the current state. Watchers detect the new window themselves.
func (c *Cache) load(ctx context.Context) (revision int64, err error) {
	var state []storage.Change
	if revision, err = c.cfg.Log.State(ctx, func(change storage.Change) { state = append(state, change) }); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, readers := range c.resources {
		for _, r := range readers {
			r.reset(c.revision, revision)
		}
	}
	c.unclaimed[0].reset(c.revision, revision)
	for i := range state {
		for _, r := range c.resourcesOf(state[i].Key) {
			r.tree.set(r.entry(&state[i]))
		}
	}
	for _, f := range c.followers {
		f.restart()
	}
	c.revision = revision
	c.applied.Store(revision)
	c.telemetry.initializations.Inc()
	return revision, nil
}

// resume lets the cache answer reads.
func (c *Cache) resume() {
	c.loaded.Store(true)
	c.loadOnce.Do(func() { close(c.firstLoaded) })
	c.waiters.wake(c.applied.Load())
	c.changed.Notify()
}

// unload sends all reads to the underlying storage, including the waiting ones.
func (c *Cache) unload() {
	c.loaded.Store(false)
	c.waiters.cancel()
}

// apply applies the changes up to a revision.
func (c *Cache) apply(changes []storage.Change, upTo int64) {
	c.telemetry.events.Add(float64(len(changes)))
	c.mu.Lock()
	before := c.revision
	for i := range changes {
		if changes[i].Revision <= c.revision {
			continue // applied before the log was lost
		}
		for _, r := range c.resourcesOf(changes[i].Key) {
			r.apply(&changes[i], &c.cfg)
		}
		for _, f := range c.followers {
			f.push(&changes[i])
		}
	}
	for _, f := range c.followers {
		f.notify()
	}
	c.revision = max(c.revision, upTo)
	c.applied.Store(c.revision)
	c.mu.Unlock()
	c.waiters.wake(upTo)
	if upTo > before {
		c.changed.Notify()
	}
}

func (r *resource) apply(change *storage.Change, config *Config) {
	e := &event{revision: change.Revision, key: change.Key}
	if change.Deleted {
		e.before = r.tree.remove(change.Key)
	} else {
		e.after = r.take(change)
		e.before = r.tree.set(e.after)
	}
	if r.root != "" && (e.before != nil || e.after != nil) {
		r.window.push(e, config)
		r.subscriptions.publish(e, r.window.end()-1, r.root)
	}
}

// entry returns the entry of a change. If the stored bytes cannot be read, decoding the entry
// returns the error.
func (r *resource) entry(change *storage.Change) *storage.Entry {
	if change.Err == nil {
		return r.decoder.Entry(change.Key, change.Revision, change.Data)
	}
	return r.decoder.Corrupt(change.Key, change.Revision, change.Err)
}

// reset removes all entries. The old window has all events up to revision before, the new one
// begins after revision since. The positions of the new window are higher, so that the readers
// detect the replacement.
func (r *resource) reset(before, since int64) {
	r.tree, r.written = newTree(), nil
	r.window = window{since: since, offset: r.window.end() + 1}
	r.subscriptions.wakeAll(before)
}
