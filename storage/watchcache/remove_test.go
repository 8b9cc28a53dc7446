package watchcache_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
	"github.com/miniapi/miniapi/versioner"
)

// interruptedLog calls a function once during the next read: after the cache has decided to
// answer, and before it reads the answer.
type interruptedLog struct {
	storage.Log
	mu   sync.Mutex // guards next
	next func()
}

func (l *interruptedLog) interrupt(with func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = with
}

func (l *interruptedLog) call() {
	l.mu.Lock()
	next := l.next
	l.next = nil
	l.mu.Unlock()
	if next != nil {
		next()
	}
}

func (l *interruptedLog) CurrentRevision(ctx context.Context) (int64, error) {
	defer l.call()
	return l.Log.CurrentRevision(ctx)
}

func (l *interruptedLog) Retains(ctx context.Context, revision int64) error {
	defer l.call()
	return l.Log.Retains(ctx, revision)
}

// removableStore is a store with some objects that the cache removes during a read.
type removableStore struct {
	*testing.T
	storage.Interface
	kind    storagetest.Kind
	log     *interruptedLog
	cache   *watchcache.Cache
	entries []*storage.Entry
}

func newRemovableStore(t *testing.T, objects int) *removableStore {
	t.Helper()
	server := startEmbedded(t)
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, Member: server})
	if err != nil {
		t.Fatal(err)
	}
	r := &removableStore{T: t, kind: storagetest.Kinds()[0], log: &interruptedLog{Log: backend}}
	r.cache = startCache(t, watchcache.Config{Log: r.log, IndexFrom: 1})
	r.Interface = r.cache.Store("/pods/", r.kind.Codec, backend.Store(r.kind.Codec))
	for i := range objects {
		r.create(fmt.Sprintf("a%02d", i))
	}
	return r
}

func (r *removableStore) create(name string) *storage.Entry {
	r.Helper()
	obj := r.kind.New("ns1", name, "1")
	obj.SetAnnotations(map[string]string{"room": "1"})
	entry, err := r.Create(r.Context(), r.kind.Key("ns1", name), obj, storage.CreateOptions{})
	if err != nil {
		r.Fatal(err)
	}
	r.entries = append(r.entries, entry)
	return entry
}

// keys returns the keys of the first n objects.
func (r *removableStore) keys(n int) []string {
	var keys []string
	for _, entry := range r.entries[:n] {
		keys = append(keys, entry.Key)
	}
	return keys
}

func (r *removableStore) latest() int64 { return r.entries[len(r.entries)-1].Revision }

func (r *removableStore) remove() { r.cache.Remove("/pods/", r.kind.Codec) }

// TestReadsOfRemovedStore removes a store during each kind of read. The answer must be the same as
// without the removal.
func TestReadsOfRemovedStore(t *testing.T) {
	get := func(key string) func(*removableStore) ([]string, error) {
		return func(r *removableStore) ([]string, error) {
			entry, err := r.Get(r.Context(), key, storage.GetOptions{})
			if err != nil {
				return nil, err
			}
			return []string{entry.Key}, nil
		}
	}
	list := func(key string, options func(*removableStore) storage.ListOptions) func(*removableStore) ([]string, error) {
		return func(r *removableStore) ([]string, error) {
			opts := options(r)
			opts.Recursive = key == "/pods/"
			page, err := r.GetList(r.Context(), key, opts)
			if err != nil {
				return nil, err
			}
			var keys []string
			for _, entry := range page.Entries {
				keys = append(keys, entry.Key)
			}
			return keys, nil
		}
	}
	first := "/pods/ns1/a00"
	cases := []struct {
		name string
		read func(*removableStore) ([]string, error)
		want int // number of expected keys
	}{
		{"get", get(first), 1},
		{"count", func(r *removableStore) ([]string, error) {
			n, err := r.Count(r.Context(), "/pods/")
			return r.keys(int(n)), err
		}, 3},
		{"list", list("/pods/", func(*removableStore) storage.ListOptions { return storage.ListOptions{} }), 3},
		{"list of one key", list(first, func(*removableStore) storage.ListOptions { return storage.ListOptions{} }), 1},
		{"first page", list("/pods/", func(*removableStore) storage.ListOptions { return storage.ListOptions{Limit: 2} }), 2},
		{"list by index", list("/pods/", func(*removableStore) storage.ListOptions { return storage.ListOptions{Predicate: inRoom(1)} }), 3},
		{"list at a revision", list("/pods/", func(r *removableStore) storage.ListOptions {
			return storage.ListOptions{ResourceVersion: versioner.Format(r.latest()), ResourceVersionMatch: metav1.ResourceVersionMatchExact}
		}), 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRemovableStore(t, 3)
			if _, err := r.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true, Predicate: inRoom(1)}); err != nil {
				t.Fatal(err) // this creates the index
			}
			r.log.interrupt(r.remove)
			got, err := c.read(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r.keys(c.want), got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWatchesOfRemovedStore removes a store while a watch starts. The watch must send all initial
// events and miss no later event.
func TestWatchesOfRemovedStore(t *testing.T) {
	no, yes := false, true
	cases := []struct {
		name    string
		options func(*removableStore) storage.WatchOptions
		initial bool
	}{
		{"from the state", func(*removableStore) storage.WatchOptions { return storage.WatchOptions{SendInitialEvents: &yes} }, true},
		{"from now", func(*removableStore) storage.WatchOptions { return storage.WatchOptions{SendInitialEvents: &no} }, false},
		{"from a revision", func(r *removableStore) storage.WatchOptions {
			return storage.WatchOptions{ResourceVersion: versioner.Format(r.latest() - 1)}
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRemovableStore(t, 3)
			opts := c.options(r)
			opts.Recursive = true
			r.log.interrupt(r.remove)
			watcher, err := r.Watch(t.Context(), "/pods/", opts)
			if err != nil {
				t.Fatal(err)
			}
			defer watcher.Stop()
			if c.initial {
				r.wantInitial(watcher)
			} else if opts.ResourceVersion != "" {
				r.wantAdded(watcher, r.entries[2])
			}
			r.wantAdded(watcher, r.create("b"))
		})
	}
}

// TestSlowWatchOfRemovedStore removes a store while a watch still sends the initial events, at the
// revision of these events.
func TestSlowWatchOfRemovedStore(t *testing.T) {
	r := newRemovableStore(t, 100) // more than the channel of a watch holds
	watcher, err := r.Watch(t.Context(), "/pods/", storage.WatchOptions{Recursive: true, ProgressNotify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	r.remove()
	r.wantInitial(watcher)
	r.wantAdded(watcher, r.create("b"))
}

// TestWatchOfRemovedStoreEndsWithItsContext checks that a watch whose context ends reports no
// error, even if its store is removed at the same time.
func TestWatchOfRemovedStoreEndsWithItsContext(t *testing.T) {
	for range 20 { // select chooses at random between an event and the end of the context
		r := newRemovableStore(t, 100)
		ctx, cancel := context.WithCancel(t.Context())
		watcher, err := r.Watch(ctx, "/pods/", storage.WatchOptions{Recursive: true, SendInitialEvents: new(false)})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		r.remove()
		for e := range watcher.Events() {
			t.Errorf("event %+v", e)
		}
		watcher.Stop()
	}
}

func (r *removableStore) wantInitial(watcher storage.Watcher) {
	r.Helper()
	for _, entry := range r.entries {
		r.wantAdded(watcher, entry)
	}
	if e := r.next(watcher); e.Type != watch.Bookmark || !e.InitialEventsEnd || e.Revision < r.latest() {
		r.Fatalf("event is %+v, want the end of the initial events", e)
	}
}

// wantAdded checks the next event. Bookmarks of earlier revisions may precede it.
func (r *removableStore) wantAdded(watcher storage.Watcher, want *storage.Entry) {
	r.Helper()
	e := r.next(watcher)
	for e.Type == watch.Bookmark && !e.InitialEventsEnd && e.Revision < want.Revision {
		e = r.next(watcher)
	}
	if e.Type != watch.Added || e.Entry.Key != want.Key || e.Revision != want.Revision {
		r.Fatalf("event is %+v, want %s added at %d", e, want.Key, want.Revision)
	}
}

func (r *removableStore) next(watcher storage.Watcher) storage.Event {
	r.Helper()
	select {
	case e, open := <-watcher.Events():
		if !open {
			r.Fatal("the watch has ended")
		}
		return e
	case <-time.After(time.Minute):
		r.Fatal("the watch sends no event")
		return storage.Event{}
	}
}
