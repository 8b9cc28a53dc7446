package watchcache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
	"github.com/miniapi/miniapi/versioner"
)

// readUntil returns the events of a watch up to a revision, which must be the revision of an event
// or a bookmark.
func readUntil(t *testing.T, watcher storage.Watcher, revision int64) []string {
	t.Helper()
	var events []string
	for e := range watcher.Events() {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		if e.Entry != nil {
			events = append(events, fmt.Sprintf("%s %s %d", e.Type, e.Entry.Key, e.Revision))
		}
		if e.Revision >= revision {
			break
		}
	}
	return events
}

// TestWatchesReportTheEventsOfTheirScope compares watches of one object, of a namespace, of all
// objects, and by field, with watches of etcd. The small window makes watches fall behind and
// return.
func TestWatchesReportTheEventsOfTheirScope(t *testing.T) {
	for name, windowEvents := range map[string]int{"LargeWindow": 8192, "SmallWindow": 2} {
		t.Run(name, func(t *testing.T) {
			rooms := newRoomStore(t, watchcache.Config{WindowEvents: windowEvents, ProgressInterval: 10 * time.Millisecond})
			start := rooms.move("1a", 1)
			scopes := map[string]storage.WatchOptions{
				"/pods/ns1/1a": {}, "/pods/ns2/2c": {}, "/pods/ns3/absent": {},
				"/pods/": {Recursive: true}, "/pods/ns1/": {Recursive: true},
				"/pods": {Recursive: true, Predicate: inRoom(1)}, "/pods/ns2": {Recursive: true, Predicate: inRoom(2)},
			}
			cached, direct := map[string]storage.Watcher{}, map[string]storage.Watcher{}
			for key, opts := range scopes {
				opts.ResourceVersion, opts.ProgressNotify = versioner.Format(start), true
				cached[key], direct[key] = rooms.watch(rooms.Interface, key, opts), rooms.watch(rooms.direct, key, opts)
			}
			random := rand.New(rand.NewPCG(1, 2))
			var end int64
			for range 300 {
				name := fmt.Sprintf("%d%c", 1+random.IntN(2), 'a'+random.IntN(4))
				end = max(end, rooms.move(name, random.IntN(4)-1))
			}
			for key := range scopes {
				want := readUntil(t, direct[key], end)
				if diff := cmp.Diff(want, readUntil(t, cached[key], end)); diff != "" {
					t.Errorf("%s (-etcd +cache):\n%s", key, diff)
				}
			}
		})
	}
}

// TestQuietWatchesStayInTheWindow checks that a watch does not fall behind the window because of
// events that it does not report.
func TestQuietWatchesStayInTheWindow(t *testing.T) {
	w := newEnvWith(t, watchcache.Config{WindowEvents: 2})
	requests := make(chan struct{})
	quiet, err := w.Watch(t.Context(), w.kind.Key("ns1", "quiet"), storage.WatchOptions{
		ResourceVersion: versioner.Format(w.create("first").Revision), ProgressRequests: requests,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Stop()
	requests <- struct{}{} // the watch reads the window from now on
	if e := <-quiet.Events(); e.Type != watch.Bookmark {
		t.Fatalf("event is %+v, want a bookmark", e)
	}
	for i := range 100 {
		w.create(fmt.Sprint(i))
	}
	w.wantAdded(quiet.Events(), w.create("quiet"))
	if behind := w.metrics()["miniapi_watch_cache_watchers_behind_total"]; behind != 0 {
		t.Errorf("%v watches fell behind", behind)
	}
}

// TestWatchReturnsToTheWindow checks that a watch from a revision before the window leaves the
// storage once it has caught up.
func TestWatchReturnsToTheWindow(t *testing.T) {
	w := newEnvWith(t, watchcache.Config{WindowEvents: 4})
	start := w.create("first")
	var want []*storage.Entry
	for i := range 20 {
		want = append(want, w.create(fmt.Sprint(i)))
	}
	watcher, err := w.Watch(t.Context(), "/pods/", storage.WatchOptions{Recursive: true, ResourceVersion: versioner.Format(start.Revision)})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	for _, entry := range want {
		w.wantAdded(watcher.Events(), entry)
	}
	if open := w.storage.watches.Load(); open != 0 {
		t.Errorf("%d watches of the storage are open", open)
	}
	w.wantAdded(watcher.Events(), w.create("later"))
	if behind := w.metrics()["miniapi_watch_cache_watchers_behind_total"]; behind != 1 {
		t.Errorf("the watch fell behind %v times", behind)
	}
}

// watchCounter counts the open watches of a store.
type watchCounter struct {
	storage.Interface
	watches atomic.Int64
}

func (c *watchCounter) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	watcher, err := c.Interface.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	c.watches.Add(1)
	return countedWatcher{watcher, &c.watches}, nil
}

type countedWatcher struct {
	storage.Watcher
	watches *atomic.Int64
}

func (w countedWatcher) Stop() {
	w.Watcher.Stop()
	w.watches.Add(-1)
}

// BenchmarkWriteWithOtherWatches measures a write with watches on other objects.
func BenchmarkWriteWithOtherWatches(b *testing.B) {
	for _, watches := range []int{0, 1000, 5000} {
		for name, opts := range map[string]storage.WatchOptions{"name": {}, "field": {Recursive: true, Predicate: inRoom(1)}} {
			b.Run(fmt.Sprintf("%s/%d", name, watches), func(b *testing.B) {
				cached, _ := stores(b)
				kind := storagetest.Kinds()[0]
				for i := range watches {
					key := "/pods/"
					if !opts.Recursive {
						key = kind.Key("ns2", fmt.Sprint(i))
					}
					watcher, err := cached.Watch(b.Context(), key, opts)
					if err != nil {
						b.Fatal(err)
					}
					b.Cleanup(watcher.Stop)
				}
				n := 0
				for b.Loop() {
					n++
					write(b, cached, n)
				}
			})
		}
	}
}
