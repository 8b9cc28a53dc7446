package watchcache

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// A window has the latest events within its limits, and the revision after which they begin.
func TestWindowIsLimited(t *testing.T) {
	const size = 1000 // of a value
	decoder := storage.NewDecoder(nil, versioner.APIObjectVersioner{})
	for rule, c := range map[string]struct {
		config Config
		want   int
	}{
		"the number of events": {Config{WindowEvents: 10, WindowBytes: 1 << 20}, 10},
		"the bytes":            {Config{WindowEvents: 1000, WindowBytes: 5 * (size + eventOverhead)}, 5},
		"one event is kept":    {Config{WindowEvents: 1000, WindowBytes: 1}, 1},
	} {
		t.Run(rule, func(t *testing.T) {
			var w window
			for revision := int64(1); revision <= 100; revision++ {
				w.push(&event{revision: revision, after: decoder.Entry("/a", revision, make([]byte, size))}, &c.config)
			}
			if w.len() != c.want || w.since != int64(100-c.want) {
				t.Errorf("%d events after revision %d, want %d", w.len(), w.since, c.want)
			}
			if _, ok := w.after(int64(99 - c.want)); ok {
				t.Error("the window reaches back to a revision whose events were dropped")
			}
			if len(w.events) > 2*c.want+1 {
				t.Errorf("the window has room for %d events", len(w.events))
			}
		})
	}
}

// The least recently used index is replaced.
func TestIndexesAreLimited(t *testing.T) {
	var x indexes
	used := x.forAttribute(attribute{label: true, name: "used"})
	for i := range 3 * maxIndexes {
		x.forAttribute(attribute{label: true, name: fmt.Sprint(i)})
		if x.forAttribute(attribute{label: true, name: "used"}) != used {
			t.Fatalf("the index that was used last is replaced by index %d", i)
		}
	}
	if len(x.recent) != maxIndexes {
		t.Errorf("%d indexes, want %d", len(x.recent), maxIndexes)
	}
}

// A slow follower does not hold more changes: the next report is the complete state.
func TestPendingChangesAreLimited(t *testing.T) {
	for name, c := range map[string]struct{ size, fit int }{"small changes": {10, maxPending}, "large changes": {1 << 20, maxPendingBytes >> 20}} {
		t.Run(name, func(t *testing.T) {
			cache := &Cache{unclaimed: []*resource{{tree: newTree()}}}
			f := &follower{wake: make(chan struct{}, 1)}
			change := &storage.Change{Key: "/a", Data: make([]byte, c.size)}
			for round := range 2 { // a report makes room
				for range c.fit {
					f.push(change)
				}
				if changes, _, complete := cache.take(f); len(changes) != c.fit || complete {
					t.Fatalf("round %d: %d changes, complete %t; want %d", round, len(changes), complete, c.fit)
				}
			}
			for range c.fit + 1 {
				f.push(change)
			}
			if changes, _, complete := cache.take(f); len(changes) > 0 || !complete {
				t.Errorf("one change more: %d changes, complete %t", len(changes), complete)
			}
		})
	}
}

// idleLog is a log that nothing follows.
type idleLog struct{ storage.Log }

func (idleLog) Retains(context.Context, int64) error { return nil }

// lostStorage is a storage in which watches fail. It records the revision that they begin after.
type lostStorage struct {
	storage.Interface
	after string
}

func (*lostStorage) Versioner() versioner.Versioner { return versioner.APIObjectVersioner{} }

func (s *lostStorage) Watch(_ context.Context, _ string, opts storage.WatchOptions) (storage.Watcher, error) {
	s.after = opts.ResourceVersion
	return nil, storage.ErrCompacted
}

// A watch that is not read holds a buffer and a batch of the events that the window has dropped. It
// reads the others from the storage.
func TestEventsOfSlowWatchesAreLimited(t *testing.T) {
	for rule, c := range map[string]struct{ size, held int }{
		"small events": {10, eventBuffer + batchSize},
		"large events": {batchBytes / 2, eventBuffer + 2},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testEventsOfSlowWatch(t, c.size, c.held) })
		})
	}
}

func testEventsOfSlowWatch(t *testing.T, size, held int) {
	const window = 200
	c, err := New(Config{Log: idleLog{}, WindowEvents: window, WindowBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	below := &lostStorage{}
	store := c.Store("/a/", nil, below)
	value := make([]byte, size)
	write := func(first, last int64) {
		for revision := first; revision <= last; revision++ {
			c.apply([]storage.Change{{Key: fmt.Sprintf("/a/%d", revision), Revision: revision, Data: value}}, revision)
		}
	}
	const after = 1
	write(after, after+window)
	c.resume()
	w, err := store.Watch(t.Context(), "/a/", storage.WatchOptions{Recursive: true, ResourceVersion: versioner.Format(after)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	synctest.Wait() // until the watch waits for its consumer
	write(after+window+1, after+2*window)
	received := 0
	for e := range w.Events() {
		if e.Err != nil {
			break
		}
		if received++; e.Revision != int64(after+received) {
			t.Fatalf("event %d has revision %d", received, e.Revision)
		}
	}
	if want := versioner.Format(int64(after + held)); received != held || below.after != want {
		t.Errorf("%d events, and the rest after revision %s from the storage; want %d and %s", received, below.after, held, want)
	}
}

// A reader waits for a cache that lags behind, and then reads from the storage.
func TestWaitIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{Log: idleLog{}})
		if err != nil {
			t.Fatal(err)
		}
		c.loaded.Store(true)
		for name, limit := range map[string]time.Duration{"the limit": maxWait, "the end of its context": time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), min(limit, maxWait+time.Second))
			if limit == maxWait {
				ctx = t.Context()
			}
			began := time.Now()
			if applied := c.await(ctx, 7); applied || time.Since(began) != limit || len(c.waiters.list) > 0 {
				t.Errorf("%s: applied %t after %v, %d readers wait", name, applied, time.Since(began), len(c.waiters.list))
			}
			cancel()
		}
	})
}
