package storagetest

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/miniapi/miniapi/storage"
)

func watchEndRules() []rule {
	return []rule{
		{"a watch from a compacted revision ends with ErrCompacted", watchCompacted},
		{"a watch from a revision after the compaction continues", watchKeptByCompaction},
		{"compaction does not end a current watch", watchSurvivesCompaction},
		{"Stop closes the events and may be called again", watchStops},
		{"Stop does not wait for a reader", watchStopsUnread},
		{"a watch ends with its context", watchContextEnds},
		{"a watch with a cancelled context ends without an error", watchCancelled},
		{"stopped watches leave no goroutines", watchLeavesNothing},
	}
}

func watchCompacted(e *env) {
	old := e.create(e.object("a", "0"))
	e.set("a", "1")
	e.compact(e.set("a", "2").Revision)
	opts := storage.WatchOptions{Recursive: true, ResourceVersion: version(old.Revision)}
	watcher, err := e.Store.Watch(e.Context(), e.below(""), opts)
	if err == nil {
		e.Cleanup(watcher.Stop)
		s := &stream{env: e, watcher: watcher}
		err = s.wantFailure()
	}
	e.wantError(err, storage.ErrCompacted, "watch", e.below(""))
}

func watchKeptByCompaction(e *env) {
	e.create(e.object("a", "0"))
	kept := e.set("a", "1")
	e.compact(kept.Revision)
	s := e.watchFrom(kept.Revision)
	next := e.set("a", "2")
	s.want(modified(next, "a", "2"))
}

func watchSurvivesCompaction(e *env) {
	begun := e.create(e.object("a", "0"))
	s := e.watchFrom(begun.Revision)
	for i := range 5 {
		value := fmt.Sprint(i + 1)
		written := e.set("a", value)
		s.want(modified(written, "a", value))
		e.compact(written.Revision)
	}
}

func watchStops(e *env) {
	begun := e.create(e.object("a", "0"))
	s := e.watchFrom(begun.Revision)
	var stopping sync.WaitGroup
	for range 8 {
		stopping.Go(s.watcher.Stop)
	}
	stopping.Wait()
	s.wantOver()
	s.watcher.Stop()
}

func watchStopsUnread(e *env) {
	begun := e.revision()
	s := e.watchFrom(begun)
	e.many(2000, colourless)
	s.next() // the watch is active
	s.watcher.Stop()
	s.wantOver()
}

func watchContextEnds(e *env) {
	begun := e.create(e.object("a", "0"))
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	watcher, err := e.Store.Watch(ctx, e.below(""), storage.WatchOptions{Recursive: true, ResourceVersion: version(begun.Revision)})
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(watcher.Stop)
	s := &stream{env: e, watcher: watcher}
	next := e.set("a", "1")
	s.want(modified(next, "a", "1"))
	cancel()
	s.wantOver()
}

func watchCancelled(e *env) {
	created := e.create(e.object("a", "0"))
	for _, from := range []int64{0, created.Revision} {
		opts := storage.WatchOptions{Recursive: true, ResourceVersion: version(from)}
		watcher, err := e.Store.Watch(cancelled(e.Context()), e.below(""), opts)
		if err != nil {
			e.Fatal(err)
		}
		e.Cleanup(watcher.Stop)
		s := &stream{env: e, watcher: watcher}
		s.wantOver()
	}
}

// watchLeavesNothing labels the goroutines that watches start, to tell them from goroutines of
// other tests.
func watchLeavesNothing(e *env) {
	const label = "storagetest.watch"
	id := e.Name()
	begun := e.create(e.object("a", "0"))
	pprof.Do(e.Context(), pprof.Labels(label, id), func(ctx context.Context) {
		for i := range 30 {
			opts := storage.WatchOptions{Recursive: true, ProgressNotify: i%2 == 0}
			if i%3 == 0 {
				opts.ResourceVersion = version(begun.Revision)
			}
			watcher := e.watchIn(ctx, opts)
			e.set("a", version(e.revision()))
			watcher.Stop()
		}
		// A watch that is stopped immediately after its start may leave an idle stream in the
		// client, which the next watch on that stream ends.
		last := &stream{env: e, watcher: e.watchIn(ctx, storage.WatchOptions{Recursive: true, ResourceVersion: version(begun.Revision)})}
		last.next()
		last.watcher.Stop()
	})
	deadline := time.Now().Add(patience)
	for strings.Contains(goroutines(), fmt.Sprintf("%q:%q", label, id)) {
		if time.Now().After(deadline) {
			e.Fatalf("stopped watches have left goroutines:\n%s", goroutines())
		}
	}
}

func (e *env) watchIn(ctx context.Context, opts storage.WatchOptions) storage.Watcher {
	e.Helper()
	watcher, err := e.Store.Watch(ctx, e.below(""), opts)
	if err != nil {
		e.Fatal(err)
	}
	return watcher
}

func goroutines() string {
	var out strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&out, 1) // never fails
	return out.String()
}
