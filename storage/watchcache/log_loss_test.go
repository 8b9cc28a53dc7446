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
	"github.com/miniapi/miniapi/versioner"
)

// interruptibleLog is a log that can be interrupted.
type interruptibleLog struct {
	storage.Log
	mu       sync.Mutex // guards the fields below
	cut      func()     // ends Follow; nil while Follow does not run
	silent   bool       // Follow reports nothing until progress is requested
	past     int64      // CurrentRevision returns this revision, unless it is 0
	restore  chan struct{}
	followed chan struct{} // receives a value when Follow starts
}

func newInterruptibleLog(log storage.Log) *interruptibleLog {
	l := &interruptibleLog{Log: log, restore: make(chan struct{}), followed: make(chan struct{}, 10)}
	close(l.restore)
	return l
}

// Follow fails when the log is interrupted.
func (l *interruptibleLog) Follow(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	cut, cancel := context.WithCancel(ctx)
	defer cancel()
	l.mu.Lock()
	l.cut = cancel
	silent := l.silent
	l.mu.Unlock()
	l.followed <- struct{}{}
	if silent {
		select {
		case <-ask:
		case <-ctx.Done():
		}
	}
	err := l.Log.Follow(cut, after, ask, report)
	if err == nil && ctx.Err() == nil {
		return errors.New("the log was cut")
	}
	return err
}

// Retains blocks until the log is restored. The cache calls it first after a loss.
func (l *interruptibleLog) Retains(ctx context.Context, revision int64) error {
	l.mu.Lock()
	restore := l.restore
	l.mu.Unlock()
	select {
	case <-restore:
		return l.Log.Retains(ctx, revision)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CurrentRevision returns an older revision, if one is set: as etcd may do for a moment after an
// event.
func (l *interruptibleLog) CurrentRevision(ctx context.Context) (int64, error) {
	l.mu.Lock()
	past := l.past
	l.mu.Unlock()
	if past != 0 {
		return past, nil
	}
	return l.Log.CurrentRevision(ctx)
}

// interrupt interrupts the log. It returns a function that restores the log and waits until it is
// followed again.
func (l *interruptibleLog) interrupt() (restore func()) {
	<-l.followed
	l.mu.Lock()
	defer l.mu.Unlock()
	restored := make(chan struct{})
	l.restore = restored
	l.cut()
	return func() {
		close(restored)
		<-l.followed
	}
}

// env is a cache over its own etcd, with a log that can be interrupted.
type env struct {
	*testing.T
	storage.Interface
	storage *watchCounter // below the cache
	kind    storagetest.Kind
	log     *interruptibleLog
	cache   *watchcache.Cache
	client  *clientv3.Client
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvWith(t, watchcache.Config{})
}

func newEnvWith(t *testing.T, cfg watchcache.Config) *env {
	t.Helper()
	w := &env{T: t, kind: storagetest.Kinds()[0]}
	w.client = startEmbedded(t).Client()
	backend, err := etcd.New(etcd.Config{Client: w.client, LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	w.log = newInterruptibleLog(backend)
	cfg.Log = w.log
	w.cache = startCache(t, cfg)
	w.storage = &watchCounter{Interface: backend.Store(w.kind.Codec)}
	w.Interface = w.cache.Store("/pods/", w.kind.Codec, w.storage)
	return w
}

func (w *env) create(name string) *storage.Entry {
	w.Helper()
	entry, err := w.Create(w.Context(), w.kind.Key("ns1", name), w.kind.New("ns1", name, "1"), storage.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return entry
}

// stored returns the stored bytes of an object.
func (w *env) stored(name string) string {
	w.Helper()
	data, err := w.kind.Codec.Encode(w.kind.New("ns1", name, "1"))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *env) watch() <-chan storage.Event {
	w.Helper()
	no := false
	watcher, err := w.Watch(w.Context(), "/pods/", storage.WatchOptions{Recursive: true, SendInitialEvents: &no})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(watcher.Stop)
	return watcher.Events()
}

// awaitLoss waits until the cache has detected the loss of the log.
func (w *env) awaitLoss() {
	for w.cache.Loaded() {
		runtime.Gosched()
	}
}

func (w *env) wantAdded(events <-chan storage.Event, want *storage.Entry) {
	w.Helper()
	got := <-events
	if got.Type != watch.Added || got.Entry.Key != want.Key || got.Revision != want.Revision {
		w.Fatalf("event is %+v, want %s added at %d", got, want.Key, want.Revision)
	}
}

func (w *env) wantFound(key string) {
	w.Helper()
	for _, resourceVersion := range []string{"", "0"} {
		if _, err := w.Get(w.Context(), key, storage.GetOptions{ResourceVersion: resourceVersion}); err != nil {
			w.Errorf("with resourceVersion %q: %v", resourceVersion, err)
		}
	}
}

// TestLostLog checks that reads stay correct while the log is lost, that they do not go back in
// time when it returns, and that watches miss no events.
func TestLostLog(t *testing.T) {
	w := newEnv(t)
	events := w.watch()
	restore := w.log.interrupt()
	a := w.create("a")
	w.wantFound(a.Key)
	restore()
	w.wantFound(a.Key)
	w.wantAdded(events, a)
	w.wantAdded(events, w.create("b"))
}

// TestReadsDoNotGoBack checks that a cache whose log is restored, but has not reported its changes
// yet, answers nothing older than the revision of the last write.
func TestReadsDoNotGoBack(t *testing.T) {
	w := newEnv(t)
	a := w.create("a")
	w.wantFound(a.Key)
	restore := w.log.interrupt()
	w.log.silent = true
	if _, err := w.Delete(t.Context(), a.Key, storage.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b := w.create("b")
	restore()
	if _, err := w.Get(t.Context(), b.Key, storage.GetOptions{ResourceVersion: "0"}); err != nil {
		t.Errorf("the created object: %v", err)
	}
	if entry, err := w.Get(t.Context(), a.Key, storage.GetOptions{ResourceVersion: "0"}); !isNotFound(err) {
		t.Errorf("the deleted object: %v, %v", entry, err)
	}
}

// TestReadsOfTheStorageDoNotGoBack is the same test for the revision of a read that the storage
// has answered.
func TestReadsOfTheStorageDoNotGoBack(t *testing.T) {
	for name, opts := range map[string]storage.ListOptions{
		"of any age": {Recursive: true, ResourceVersion: "0"},
		"consistent": {Recursive: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			a := w.create("a")
			w.wantFound(a.Key) // the cache has applied it
			restore := w.log.interrupt()
			w.log.silent, w.log.past = true, a.Revision
			if _, err := w.client.Put(t.Context(), "/registry"+w.kind.Key("ns1", "b"), w.stored("b")); err != nil {
				t.Fatal(err)
			}
			w.awaitLoss()
			page, err := w.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true})
			if err != nil || len(page.Entries) != 2 {
				t.Fatalf("list %v: %v", page, err)
			}
			restore()
			page, err = w.GetList(t.Context(), "/pods/", opts)
			if err != nil || len(page.Entries) != 2 {
				t.Errorf("list %v: %v, want both", versions(page), err)
			}
		})
	}
}

// TestReadsDoNotGoBackBehindWatches is the same test for the events of watches that begin while the
// log is lost. These watches return to the cache afterwards.
func TestReadsDoNotGoBackBehindWatches(t *testing.T) {
	yes, no := true, false
	for name, opts := range map[string]storage.WatchOptions{
		"from the state":  {SendInitialEvents: &yes},
		"from now":        {SendInitialEvents: &no},
		"from a revision": {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			a := w.create("a")
			w.wantFound(a.Key) // the cache has applied it
			restore := w.log.interrupt()
			w.log.silent = true
			w.awaitLoss()
			opts.Recursive = true
			if opts.SendInitialEvents == nil {
				opts.ResourceVersion = versioner.Format(a.Revision - 1)
			}
			watcher, err := w.Watch(t.Context(), "/pods/", opts)
			if err != nil {
				t.Fatal(err)
			}
			defer watcher.Stop()
			if opts.SendInitialEvents != &no {
				w.wantAdded(watcher.Events(), a)
			}
			if opts.SendInitialEvents == &yes {
				if end := <-watcher.Events(); !end.InitialEventsEnd {
					t.Fatalf("event is %+v, want the end of the initial events", end)
				}
			}
			if _, err := w.client.Put(t.Context(), "/registry"+w.kind.Key("ns1", "b"), w.stored("b")); err != nil {
				t.Fatal(err)
			}
			b := <-watcher.Events()
			if b.Type != watch.Added || b.Entry.Key != w.kind.Key("ns1", "b") {
				t.Fatalf("event is %+v, want b added", b)
			}
			restore()
			if _, err := w.Get(t.Context(), b.Entry.Key, storage.GetOptions{ResourceVersion: "0"}); err != nil {
				t.Errorf("an object of an event: %v", err)
			}
			for _, name := range []string{"c", "d"} { // the first event after the loss ends the watch of the storage
				entry := w.create(name)
				w.wantFound(entry.Key)
				w.wantAdded(watcher.Events(), entry)
			}
			if open := w.storage.watches.Load(); open != 0 {
				t.Errorf("%d watches of the storage are open", open)
			}
		})
	}
}

// TestLostLogIsCompacted checks that the cache loads the state again, and that a watch ends with
// an error if it would miss events.
func TestLostLogIsCompacted(t *testing.T) {
	w := newEnv(t)
	events := w.watch()
	restore := w.log.interrupt()
	w.create("a")
	b := w.create("b")
	if _, err := w.client.Compact(t.Context(), b.Revision); err != nil {
		t.Fatal(err)
	}
	restore()
	w.wantFound(b.Key)
	if last := <-events; last.Type != watch.Error || !errors.Is(last.Err, storage.ErrCompacted) {
		t.Errorf("event is %+v, want ErrCompacted", last)
	}
	if extra, open := <-events; open {
		t.Errorf("event after the end: %+v", extra)
	}
	w.wantAdded(w.watch(), w.create("c"))
}

// TestReadsDoNotWaitForForeignWrites checks that a consistent read does not wait for a revision
// that changed none of the cache's keys.
func TestReadsDoNotWaitForForeignWrites(t *testing.T) {
	w := newEnv(t)
	a := w.create("a")
	for i := range 5 {
		if _, err := w.client.Put(t.Context(), "/other", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		w.wantFound(a.Key)
	}
}

// TestStoreAddedLater checks that a store that is added later has all existing objects and all
// changes.
func TestStoreAddedLater(t *testing.T) {
	w := newEnv(t)
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
	w.create("a") // the cache has applied this revision
	w.wantFound("/pods/ns1/a")
	late := w.cache.Store("/late/", w.kind.Codec, direct)
	then := put(late, "then")
	page, err := late.GetList(t.Context(), "/late/", storage.ListOptions{Recursive: true})
	if err != nil || len(page.Entries) != 2 || page.Entries[0].Revision != early.Revision || page.Entries[1].Revision != then.Revision {
		t.Errorf("list is %+v (%v), want the objects created before and after the store", page, err)
	}
	if obj, err := page.Entries[0].Object(); err != nil {
		t.Errorf("object %v: %v", obj, err)
	}
}

// TestStoreRemoved checks that a watch continues after its store was removed, and that a new store
// has all objects.
func TestStoreRemoved(t *testing.T) {
	w := newEnv(t)
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

// TestStoresOfOneRoot checks that two stores of a root both have all objects and all events.
func TestStoresOfOneRoot(t *testing.T) {
	w := newEnv(t)
	events := w.watch()
	other := w.cache.Store("/pods/", w.kind.Codec, w.Interface)
	a := w.create("a")
	if _, err := other.Get(t.Context(), a.Key, storage.GetOptions{}); err != nil {
		t.Error(err)
	}
	w.wantAdded(events, a)
}

// anotherCodec is a codec that is not equal to the embedded one.
type anotherCodec struct{ storage.Codec }

// TestCodecsOfOneRoot checks that a store with another codec has the existing objects, receives
// all events, and keeps both when the first store is removed.
func TestCodecsOfOneRoot(t *testing.T) {
	w := newEnv(t)
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

// lossyLog is a log that drops the first change, reports the loss, and retains all changes.
type lossyLog struct {
	storage.Log
	lost      bool          // only Follow uses it
	recovered chan struct{} // closed when Follow is called again
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

// TestLogLosesChanges checks that a cache whose log has lost changes loads the state again, even
// if the log could continue from the revision of the cache.
func TestLogLosesChanges(t *testing.T) {
	w := newEnv(t)
	log := &lossyLog{Log: w.log.Log, recovered: make(chan struct{})}
	direct := w.Interface
	w.cache = startCache(t, watchcache.Config{Log: log})
	w.Interface = w.cache.Store("/pods/", w.kind.Codec, direct)
	a := w.create("a")
	<-log.recovered
	w.wantFound(a.Key)
}
