package watchcache_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// followed is one report to a follower.
type followed struct {
	changes  []string
	complete bool
}

// follow runs a follower until the test ends. It returns its reports.
func follow(t *testing.T, cache *watchcache.Cache) <-chan followed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reports := make(chan followed)
	var running sync.WaitGroup
	running.Go(func() {
		err := cache.Follow(ctx, func(changes []storage.Change, _ int64, complete bool) {
			report := followed{complete: complete}
			for _, change := range changes {
				report.changes = append(report.changes, describeChange(change))
			}
			select {
			case reports <- report:
			case <-ctx.Done():
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return reports
}

func describeChange(change storage.Change) string {
	if change.Deleted {
		return "deleted " + change.Key
	}
	return fmt.Sprintf("%s (%t)", change.Key, len(change.Data) > 0)
}

// wantReport checks the next report that has changes or is complete. A slow read makes the log
// report its progress, without changes.
func wantReport(t *testing.T, reports <-chan followed, want followed) {
	t.Helper()
	got := <-reports
	for len(got.changes) == 0 && !got.complete {
		got = <-reports
	}
	slices.Sort(got.changes)
	if got.complete != want.complete || !slices.Equal(got.changes, want.changes) {
		t.Errorf("report %v, want %v", got, want)
	}
}

func TestFollowersGetTheStateAndThenChanges(t *testing.T) {
	w := newEnv(t)
	w.create("a")
	if _, err := w.Get(t.Context(), "/pods/ns1/a", storage.GetOptions{}); err != nil { // the cache has it
		t.Fatal(err)
	}
	reports := follow(t, w.cache)
	wantReport(t, reports, followed{[]string{"/pods/ns1/a (true)"}, true})
	w.create("b")
	wantReport(t, reports, followed{[]string{"/pods/ns1/b (true)"}, false})
	if _, err := w.Delete(t.Context(), "/pods/ns1/a", storage.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantReport(t, reports, followed{[]string{"deleted /pods/ns1/a"}, false})
}

// countingLog reports changes of n keys, a hundred at once.
type countingLog struct {
	storage.Log
	n int
}

func (l countingLog) State(context.Context, func(storage.Change)) (int64, error) { return 1, nil }

func (l countingLog) Follow(ctx context.Context, _ int64, _ <-chan struct{}, report func([]storage.Change, int64)) error {
	for i := 0; i < l.n; i += 100 {
		var changes []storage.Change
		for j := i; j < i+100; j++ {
			changes = append(changes, storage.Change{Key: fmt.Sprintf("/pods/p%06d", j), Revision: int64(j + 2), Data: []byte("x")})
		}
		report(changes, int64(i+101))
	}
	<-ctx.Done()
	return nil
}

// A follower that does not read gets the complete state in place of the changes that it has missed.
func TestSlowFollowersGetTheCompleteState(t *testing.T) {
	const keys = 40_000 // more than the changes that are kept for a follower
	cache, err := watchcache.New(watchcache.Config{Log: countingLog{n: keys}})
	if err != nil {
		t.Fatal(err)
	}
	reports := follow(t, cache)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = cache.Run(ctx) })
	defer running.Wait()
	defer cancel()
	for known := map[string]bool{}; len(known) < keys; {
		report := <-reports
		if report.complete {
			clear(known)
		}
		for _, key := range report.changes {
			known[key] = true
		}
	}
}
