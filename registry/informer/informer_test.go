package informer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
)

func readOnly(config *Config) { config.Handle = nil }

func TestWatchReportsChangesInOrder(t *testing.T) {
	changes := make(chan string, 10)
	e := newEnv(t, func(config *Config) {
		config.Handle = func(_ context.Context, change Change) { changes <- describe(change) }
	})
	e.create("a", "1")
	e.run()
	want := []string{"a: none -> 1", "b: none -> 1", "a: 1 -> 2", "a: 2 -> none", "a: none -> 3", "b: 1 -> none"}
	for i, next := range want {
		if got := <-changes; got != next {
			t.Errorf("change %q, want %q", got, next)
		}
		if i == 0 {
			e.create("b", "1")
			e.update("a", "2")
			e.delete("a")
			e.create("a", "3")
			e.delete("b")
		}
	}
	if err := e.Sync(t.Context()); err != nil || len(changes) > 0 {
		t.Errorf("Sync: %v, then %d changes without a write", err, len(changes))
	}
}

// A Sync may be faster than the watch. The intermediate states are not reported then, but the
// deletion of an object that was known is.
func TestSyncReportsDifferences(t *testing.T) {
	e := newEnv(t)
	e.create("a", "1")
	e.run()
	e.wantChanges("a: none -> 1")
	e.delete("a")
	e.create("a", "2")
	e.wantChanges("a: 1 -> none", "a: none -> 2")
}

func TestKnownSet(t *testing.T) {
	for name, run := range map[string]bool{"with Run": true, "without Run": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, readOnly)
			if run {
				e.run()
			}
			e.create("b", "1")
			e.wantKnown("b: 1")
			before := e.Generation()
			e.wantKnown("b: 1")
			if e.Generation() != before {
				t.Error("the generation has changed without a write")
			}
			e.create("a", "1")
			e.update("b", "2")
			e.wantKnown("a: 1", "b: 2")
			if e.Generation() == before {
				t.Error("the generation has not changed")
			}
			e.delete("b")
			e.wantKnown("a: 1")
		})
	}
}

func TestWatchUpdatesTheKnownSet(t *testing.T) {
	e := newEnv(t, readOnly)
	e.run()
	e.wantKnown()
	e.create("a", "1")
	for len(e.known()) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the watch has not reported the object")
		}
	}
}

func TestUnusedInformerStartsNoWatch(t *testing.T) {
	var lookups atomic.Int32
	e := newEnv(t, readOnly, func(config *Config) {
		lookup := config.Lookup
		config.Lookup = func(name schema.GroupResource) (*registry.Store, bool) {
			lookups.Add(1)
			return lookup(name)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }() // ends with ctx
	cancel()
	if err := <-done; err != nil || lookups.Load() != 0 {
		t.Errorf("Run: %v, %d lookups", err, lookups.Load())
	}
}

func TestDifferencesAfterALostWatch(t *testing.T) {
	e := newEnv(t)
	e.run()
	for _, name := range []string{"changed", "deleted", "kept", "recreated"} {
		e.create(name, "1")
	}
	e.wantChanges("changed: none -> 1", "deleted: none -> 1", "kept: none -> 1", "recreated: none -> 1")
	reconnect := e.disconnect()
	if err := e.Sync(t.Context()); err == nil {
		t.Error("Sync succeeded without a store")
	}
	e.delete("deleted")
	e.update("changed", "2")
	e.delete("recreated")
	e.create("recreated", "2")
	e.create("created", "1")
	e.create("transient", "1")
	e.delete("transient")
	e.compact()
	reconnect()
	e.wantChanges("deleted: 1 -> none", "changed: 1 -> 2", "created: none -> 1",
		"recreated: 1 -> none", "recreated: none -> 2")
	e.update("kept", "2")
	e.wantChanges("kept: 1 -> 2")
}

func TestWatchRecoversWithoutSync(t *testing.T) {
	changes := make(chan string, 10)
	e := newEnv(t, func(config *Config) {
		config.Handle = func(_ context.Context, change Change) { changes <- describe(change) }
	})
	e.run()
	e.create("a", "1")
	e.create("b", "1")
	<-changes
	<-changes
	for _, name := range []string{"a", "b"} {
		reconnect := e.disconnect()
		e.delete(name)
		e.compact()
		reconnect()
		if got, want := <-changes, name+": 1 -> none"; got != want {
			t.Errorf("change %q, want %q", got, want)
		}
	}
}

// Corrupt objects stop neither the initial list nor the watch.
func TestCorruptObjects(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"a", "b", "c"} {
		e.create(name, "1")
	}
	e.damage("a")
	e.damage("b")
	e.run()
	e.wantChanges("a: none -> corrupt", "b: none -> corrupt", "c: none -> 1")
	e.remove("a")
	e.wantChanges("a: corrupt -> none")
	e.damage("c")
	e.wantChanges("c: 1 -> corrupt")
	e.create("d", "1")
	e.wantChanges("d: none -> 1")
	reconnect := e.disconnect()
	e.remove("b")
	reconnect()
	e.wantChanges("b: corrupt -> none")
	e.wantKnown("c: corrupt", "d: 1")
}

func TestSelection(t *testing.T) {
	e := newEnv(t, func(config *Config) {
		config.Selection = registry.ListRequest{Label: labels.SelectorFromSet(labels.Set{"selected": "true"})}
	})
	e.create("other", "1")
	e.damage("corrupt")
	e.createSelected("a")
	e.run()
	e.wantChanges("a: none -> 1")
	e.update("other", "2")
	e.createSelected("b")
	e.wantChanges("b: none -> 1")
	e.delete("a")
	e.wantChanges("a: 1 -> none")
	e.wantKnown("b: 1")
}

func (e *env) createSelected(name string) {
	e.Helper()
	obj := registrytest.NewConfigMap(name)
	obj.Labels, obj.Data = map[string]string{"selected": "true"}, map[string]string{"v": "1"}
	e.Create("configmaps", obj)
}

func TestSyncWaitsForHandle(t *testing.T) {
	handling, resume := make(chan struct{}), make(chan struct{})
	e := newEnv(t, func(config *Config) {
		config.Handle = func(context.Context, Change) {
			handling <- struct{}{}
			<-resume
		}
	})
	e.create("a", "1")
	e.run()
	<-handling
	e.create("b", "1")
	ctx, cancel := context.WithCancel(t.Context())
	synced := make(chan error)
	go func() { synced <- e.Sync(ctx) }() // ends with ctx
	for len(e.known()) < 2 {              // until Sync has read the list: Run is in Handle
		runtime.Gosched()
	}
	cancel()
	if err := <-synced; !errors.Is(err, context.Canceled) {
		t.Errorf("Sync returned %v before Handle", err)
	}
	resume <- struct{}{}
	<-handling
	resume <- struct{}{}
	if err := e.Sync(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRetry(t *testing.T) {
	changes, failures := make(chan string, 10), 2
	var e *env
	e = newEnv(t, func(config *Config) {
		config.Handle = func(_ context.Context, change Change) {
			changes <- describe(change)
			if failures--; failures >= 0 {
				e.Retry(change.Key)
			}
		}
	})
	e.create("a", "1")
	e.create("b", "1")
	e.run()
	for _, want := range []string{"a: none -> 1", "b: none -> 1", "a: 1 -> 1", "b: 1 -> 1"} {
		if got := <-changes; got != want {
			t.Errorf("change %q, want %q", got, want)
		}
	}
}

// A Sync after a write includes the write, also while the watch is lost again and again, and the
// changes lead from each state to the next.
func TestConcurrentWritesAndSyncs(t *testing.T) {
	replica := map[string]int64{}
	e := newEnv(t, func(config *Config) {
		config.Handle = func(_ context.Context, change Change) {
			if revisionOf(change.Old) != replica[change.Key] {
				t.Errorf("%s: from revision %d, want %d", change.Key, revisionOf(change.Old), replica[change.Key])
			}
			replica[change.Key] = revisionOf(change.New)
		}
	})
	e.run()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			name := fmt.Sprint("w", w)
			for round := range 20 {
				e.create(name, fmt.Sprint(round))
				e.update(name, fmt.Sprint(-round))
				for e.Sync(t.Context()) != nil && t.Context().Err() == nil { // disconnected
				}
				e.delete(name)
			}
			e.create(name, "end")
		})
	}
	for range 10 {
		e.disconnect()()
	}
	writers.Wait()
	e.wantKnown("w0: end", "w1: end", "w2: end", "w3: end")
}

func revisionOf(entry *storage.Entry) int64 {
	if entry == nil {
		return 0
	}
	return entry.Revision
}
