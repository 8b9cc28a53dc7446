package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// brittleLog is a log that can be cut off.
type brittleLog struct {
	storage.Log
	mu       sync.Mutex // guards what follows
	cut      func()     // ends Follow; nil: nobody follows
	late     bool       // Follow says nothing until it is asked
	mend     chan struct{}
	followed chan struct{} // receives when somebody follows
}

func newBrittleLog(log storage.Log) *brittleLog {
	b := &brittleLog{Log: log, mend: make(chan struct{}), followed: make(chan struct{}, 10)}
	close(b.mend)
	return b
}

// Follow waits until the log is whole, and fails when it is cut.
func (b *brittleLog) Follow(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	cut, cancel := context.WithCancel(ctx)
	defer cancel()
	b.mu.Lock()
	b.cut = cancel
	late := b.late
	b.mu.Unlock()
	b.followed <- struct{}{}
	if late {
		select {
		case <-ask:
		case <-ctx.Done():
		}
	}
	err := b.Log.Follow(cut, after, ask, report)
	if err == nil && ctx.Err() == nil {
		return errors.New("the log was cut")
	}
	return err
}

// Retains is what the cache asks first when it comes back.
func (b *brittleLog) Retains(ctx context.Context, revision int64) error {
	b.mu.Lock()
	mend := b.mend
	b.mu.Unlock()
	select {
	case <-mend:
		return b.Log.Retains(ctx, revision)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// breakOff returns what mends the log, which returns when it is followed again.
func (b *brittleLog) breakOff() (mend func()) {
	<-b.followed
	b.mu.Lock()
	defer b.mu.Unlock()
	whole := make(chan struct{})
	b.mend = whole
	b.cut()
	return func() {
		close(whole)
		<-b.followed
	}
}

// world is a cache over an etcd of its own, whose log can be cut off.
type world struct {
	*testing.T
	storage.Interface
	kind   storagetest.Kind
	log    *brittleLog
	cache  *watchcache.Cache
	client *clientv3.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, kind: storagetest.Kinds()[0]}
	w.client = startEmbedded(t).Client()
	backend, err := etcd.New(etcd.Config{Client: w.client, LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	w.log = newBrittleLog(backend)
	w.cache = startCache(t, watchcache.Config{Log: w.log})
	w.Interface = w.cache.Store("/pods/", w.kind.Codec, backend.Store(w.kind.Codec))
	return w
}

func (w *world) create(name string) *storage.Entry {
	w.Helper()
	entry, err := w.Create(w.Context(), w.kind.Key("ns1", name), w.kind.New("ns1", name, "1"), storage.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return entry
}

// stored returns an object as it is at rest.
func (w *world) stored(name string) string {
	w.Helper()
	data, err := w.kind.Codec.Encode(w.kind.New("ns1", name, "1"))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *world) watch() <-chan storage.Event {
	w.Helper()
	no := false
	watcher, err := w.Watch(w.Context(), "/pods/", storage.WatchOptions{Recursive: true, SendInitialEvents: &no})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(watcher.Stop)
	return watcher.Events()
}

func (w *world) wantAdded(events <-chan storage.Event, want *storage.Entry) {
	w.Helper()
	got := <-events
	if got.Type != watch.Added || got.Entry.Key != want.Key || got.Revision != want.Revision {
		w.Fatalf("event is %+v, want %s added at %d", got, want.Key, want.Revision)
	}
}

func (w *world) wantFound(key string) {
	w.Helper()
	for _, resourceVersion := range []string{"", "0"} {
		if _, err := w.Get(w.Context(), key, storage.GetOptions{ResourceVersion: resourceVersion}); err != nil {
			w.Errorf("with resourceVersion %q: %v", resourceVersion, err)
		}
	}
}

// TestLostLog shows that reads stay right while the log is lost, do not go back
// when it returns, and that watches miss nothing.
func TestLostLog(t *testing.T) {
	w := newWorld(t)
	events := w.watch()
	mend := w.log.breakOff()
	a := w.create("a")
	w.wantFound(a.Key)
	mend()
	w.wantFound(a.Key)
	w.wantAdded(events, a)
	w.wantAdded(events, w.create("b"))
}

// TestReadsDoNotGoBack shows that a cache which has its log again, but not yet
// what was in it, answers nothing older than the storage has answered meanwhile.
func TestReadsDoNotGoBack(t *testing.T) {
	w := newWorld(t)
	a := w.create("a")
	w.wantFound(a.Key)
	mend := w.log.breakOff()
	w.log.late = true
	if _, err := w.Delete(t.Context(), a.Key, storage.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b := w.create("b")
	mend()
	if _, err := w.Get(t.Context(), b.Key, storage.GetOptions{ResourceVersion: "0"}); err != nil {
		t.Errorf("what was written: %v", err)
	}
	if entry, err := w.Get(t.Context(), a.Key, storage.GetOptions{ResourceVersion: "0"}); !isNotFound(err) {
		t.Errorf("what was deleted: %v, %v", entry, err)
	}
}

// TestReadsOfTheStorageDoNotGoBack is the same for what the storage has answered
// to a read.
func TestReadsOfTheStorageDoNotGoBack(t *testing.T) {
	w := newWorld(t)
	w.create("a")
	mend := w.log.breakOff()
	w.log.late = true
	if _, err := w.client.Put(t.Context(), "/registry"+w.kind.Key("ns1", "b"), w.stored("b")); err != nil {
		t.Fatal(err)
	}
	for w.cache.Loaded() { // it has yet to notice
		runtime.Gosched()
	}
	page, err := w.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true})
	if err != nil || len(page.Entries) != 2 {
		t.Fatalf("list %v: %v", page, err)
	}
	mend()
	page, err = w.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true, ResourceVersion: "0"})
	if err != nil || len(page.Entries) != 2 {
		t.Errorf("list %v: %v, want both", versions(page), err)
	}
}

// TestLostLogIsCompacted shows that the cache starts anew from the state, and
// that a watch which cannot go on without loss is told so.
func TestLostLogIsCompacted(t *testing.T) {
	w := newWorld(t)
	events := w.watch()
	mend := w.log.breakOff()
	w.create("a")
	b := w.create("b")
	if _, err := w.client.Compact(t.Context(), b.Revision); err != nil {
		t.Fatal(err)
	}
	mend()
	w.wantFound(b.Key)
	if last := <-events; last.Type != watch.Error || !errors.Is(last.Err, storage.ErrCompacted) {
		t.Errorf("event is %+v, want the error that its revision is gone", last)
	}
	if extra, open := <-events; open {
		t.Errorf("event after the end: %+v", extra)
	}
	w.wantAdded(w.watch(), w.create("c"))
}

// TestReadsDoNotWaitForForeignWrites shows that a consistent read learns that
// what moved the revision was none of the cache's keys.
func TestReadsDoNotWaitForForeignWrites(t *testing.T) {
	w := newWorld(t)
	a := w.create("a")
	for i := range 5 {
		if _, err := w.client.Put(t.Context(), "/elsewhere", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		w.wantFound(a.Key)
	}
}

// TestStoreAddedLater shows that a resource which gets its store late has all
// its objects and misses none.
func TestStoreAddedLater(t *testing.T) {
	w := newWorld(t)
	backend, err := etcd.New(etcd.Config{Client: w.client, LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	direct := backend.Store(w.kind.Codec)
	put := func(s storage.Interface, name string) *storage.Entry {
		entry, err := s.Create(t.Context(), "/late/"+name, w.kind.New("", name, "1"), storage.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return entry
	}
	early := put(direct, "early")
	w.create("a") // the log has got to here
	w.wantFound("/pods/ns1/a")
	late := w.cache.Store("/late/", w.kind.Codec, direct)
	then := put(late, "then")
	page, err := late.GetList(t.Context(), "/late/", storage.ListOptions{Recursive: true})
	if err != nil || len(page.Entries) != 2 || page.Entries[0].Revision != early.Revision || page.Entries[1].Revision != then.Revision {
		t.Errorf("list is %+v (%v), want what was there before the store and after", page, err)
	}
	if obj, err := page.Entries[0].Object(); err != nil {
		t.Errorf("object %v: %v", obj, err)
	}
}

// TestStoreRemoved shows that a watch of a store that was removed goes on, and
// that a new one finds everything.
func TestStoreRemoved(t *testing.T) {
	w := newWorld(t)
	events := w.watch()
	a := w.create("a")
	w.cache.Remove("/pods/", w.kind.Codec)
	b := w.create("b")
	w.wantFound(b.Key)
	w.Interface = w.cache.Store("/pods/", w.kind.Codec, w.Interface)
	c := w.create("c")
	for _, entry := range []*storage.Entry{a, b, c} {
		w.wantFound(entry.Key)
		w.wantAdded(events, entry)
	}
}

// TestStoresOfOneRoot shows that both have all objects, and all events.
func TestStoresOfOneRoot(t *testing.T) {
	w := newWorld(t)
	events := w.watch()
	other := w.cache.Store("/pods/", w.kind.Codec, w.Interface)
	a := w.create("a")
	if _, err := other.Get(t.Context(), a.Key, storage.GetOptions{}); err != nil {
		t.Error(err)
	}
	w.wantAdded(events, a)
}

// anotherCodec reads what another one does, and is another reader.
type anotherCodec struct{ storage.Codec }

// TestCodecsOfOneRoot shows that each codec's reader has what was there before it
// came, sees all events, and keeps them when the other goes.
func TestCodecsOfOneRoot(t *testing.T) {
	w := newWorld(t)
	a := w.create("a")
	w.wantFound(a.Key)
	first := w.Interface
	codec := anotherCodec{w.kind.Codec}
	w.Interface = w.cache.Store("/pods/", codec, first)
	events := w.watch()
	w.cache.Remove("/pods/", w.kind.Codec)
	b := w.create("b")
	w.wantFound(a.Key)
	w.wantFound(b.Key)
	w.wantAdded(events, b)
	w.cache.Remove("/pods/", codec)
	w.Interface = w.cache.Store("/pods/", w.kind.Codec, first)
	w.wantFound(a.Key)
	w.wantFound(b.Key)
}

// lossyLog is a log that leaves out the first change, says so, and retains everything.
type lossyLog struct {
	storage.Log
	lost      bool          // only Follow uses it
	recovered chan struct{} // closed when it is followed again
}

var errLost = fmt.Errorf("%w: a change was lost", storage.ErrCompacted)

func (l *lossyLog) Follow(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	if l.lost {
		close(l.recovered)
		return l.Log.Follow(ctx, after, ask, report)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := l.Log.Follow(ctx, after, ask, func(changes []storage.Change, upTo int64) {
		if len(changes) > 0 {
			l.lost = true
			cancel()
		}
		report(nil, upTo)
	})
	if l.lost {
		return errLost
	}
	return err
}

// TestLogLosesChanges shows that a cache whose log has lost changes reads the state anew, even if
// the log could go on from where the cache is.
func TestLogLosesChanges(t *testing.T) {
	w := newWorld(t)
	log := &lossyLog{Log: w.log.Log, recovered: make(chan struct{})}
	direct := w.Interface
	w.cache = startCache(t, watchcache.Config{Log: log})
	w.Interface = w.cache.Store("/pods/", w.kind.Codec, direct)
	a := w.create("a")
	<-log.recovered
	w.wantFound(a.Key)
}
