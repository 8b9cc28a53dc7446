package watchcache

import (
	"context"
	"errors"
	"time"

	"github.com/miniapi/miniapi/storage"
)

// retryAfter is how long to wait before the log is tried again.
const retryAfter = 100 * time.Millisecond

// Run keeps the cache up to date until ctx ends, which is no error. If the log
// is lost it goes on from where it was, and if that is not possible it loads
// the state anew.
func (c *Cache) Run(ctx context.Context) error {
	defer c.unload()
	for ctx.Err() == nil {
		err := c.feed(ctx)
		if ctx.Err() != nil {
			return nil
		}
		c.reload = errors.Is(err, storage.ErrCompacted)
		c.telemetry.losses.Inc()
		c.cfg.Logger.WarnContext(ctx, "watch cache: the log is lost, reads go to the storage until it is back", "error", err)
		c.unload()
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
	return nil
}

// feed returns when the log cannot be followed any more.
func (c *Cache) feed(ctx context.Context) error {
	revision := c.reached.Load()
	if c.reload {
		revision = 0
	}
	if revision > 0 {
		// The windows are intact: nobody has to notice if nothing is lost.
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
	return c.cfg.Log.Follow(ctx, revision, c.ask, c.apply)
}

// load replaces the state by the current one. Watchers whose window is gone
// find that out by themselves.
func (c *Cache) load(ctx context.Context) (revision int64, err error) {
	var state []storage.Change
	if revision, err = c.cfg.Log.State(ctx, func(change storage.Change) { state = append(state, change) }); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, readers := range c.resources {
		for _, r := range readers {
			r.reset(revision)
		}
	}
	c.strays[0].reset(revision)
	for i := range state {
		for _, r := range c.resourcesOf(state[i].Key) {
			r.tree.set(r.entry(&state[i]))
		}
	}
	c.revision = revision
	c.reached.Store(revision)
	c.telemetry.initializations.Inc()
	return revision, nil
}

// resume lets reads be answered from the cache.
func (c *Cache) resume() {
	c.loaded.Store(true)
	c.firstLoad.Do(func() { close(c.first) })
	c.waiters.wake(c.reached.Load())
}

// unload sends all reads to the storage behind, those that wait as well.
func (c *Cache) unload() {
	c.loaded.Store(false)
	c.waiters.giveUp()
}

// apply brings the state up to a revision.
func (c *Cache) apply(changes []storage.Change, upTo int64) {
	c.telemetry.events.Add(float64(len(changes)))
	c.mu.Lock()
	var touched []*resource // most reports are of one root
	for i := range changes {
		if changes[i].Revision <= c.revision {
			continue // it was told before the log was lost
		}
		readers := c.resourcesOf(changes[i].Key)
		if len(touched) > 0 && touched[0] != readers[0] {
			announce(touched)
		}
		touched = readers
		for _, r := range readers {
			r.apply(&changes[i], &c.cfg)
		}
	}
	c.revision = max(c.revision, upTo)
	c.reached.Store(c.revision)
	announce(touched)
	c.mu.Unlock()
	c.waiters.wake(upTo)
}

func (r *resource) apply(change *storage.Change, config *Config) {
	e := &event{revision: change.Revision, key: change.Key}
	if change.Deleted {
		e.before = r.tree.remove(change.Key)
	} else {
		e.after = r.entry(change)
		e.before = r.tree.set(e.after)
	}
	if r.root != "" && (e.before != nil || e.after != nil) {
		r.window.push(e, config)
	}
}

// entry makes the entry of a change. One that cannot be read says so when its
// object is asked for.
func (r *resource) entry(change *storage.Change) *storage.Entry {
	if change.Err == nil {
		return r.decoder.Entry(change.Key, change.Revision, change.Data)
	}
	return r.decoder.Corrupt(change.Key, change.Revision, change.Err)
}

func announce(resources []*resource) {
	for _, r := range resources {
		r.announce()
	}
}

// announce wakes those who wait for events.
func (r *resource) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// reset empties the resource. The positions in the window go on, so that those
// who read the old one notice.
func (r *resource) reset(revision int64) {
	r.tree = newTree()
	r.window = window{since: revision, before: r.window.before + int64(r.window.len()) + 1}
	r.announce()
}
