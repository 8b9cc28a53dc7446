package stale_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/internal/broadcast"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/stale"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/versioner"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// hold is a Hold that tests move.
type hold struct {
	revision atomic.Int64 // 0: ended
	changed  broadcast.Broadcast
}

// Revision implements stale.Hold.
func (h *hold) Revision() (int64, <-chan struct{}, bool) {
	changed := h.changed.Changed()
	revision := h.revision.Load()
	return revision, changed, revision != 0
}

// move moves the hold to a revision, 0 for its end.
func (h *hold) move(revision int64) {
	h.revision.Store(revision)
	h.changed.Notify()
}

// configMaps is the codec of ConfigMaps in protobuf.
type configMaps struct{}

func (configMaps) Encode(obj runtime.Object) ([]byte, error) {
	return obj.(*corev1.ConfigMap).Marshal()
}

func (configMaps) Decode(data []byte) (runtime.Object, error) {
	obj := &corev1.ConfigMap{}
	return obj, obj.Unmarshal(data)
}

func startEtcd(t *testing.T) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server
}

// held is a store with two ConfigMaps, of which the hold shows the first.
type held struct {
	storage.Interface
	*hold
	ctx    context.Context // of held reads
	latest int64           // revision of the second ConfigMap
}

func start(t *testing.T) *held {
	t.Helper()
	backend, err := etcd.New(etcd.Config{Client: startEtcd(t).Client(), LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	h := &held{Interface: stale.Wrap(backend.Store(configMaps{})), hold: &hold{}}
	h.ctx = stale.WithHold(t.Context(), h.hold)
	h.move(h.create(t, "a"))
	h.latest = h.create(t, "b")
	return h
}

func keyOf(name string) string { return "/configmaps/default/" + name }

func (h *held) create(t *testing.T, name string) int64 {
	t.Helper()
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	entry, err := h.Create(t.Context(), keyOf(name), obj, storage.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return entry.Revision
}

// list returns the number of objects in a held list.
func (h *held) list(t *testing.T, opts storage.ListOptions) (int, error) {
	t.Helper()
	opts.Recursive = true
	page, err := h.GetList(h.ctx, "/configmaps/", opts)
	if err != nil {
		return 0, err
	}
	return len(page.Entries), nil
}

func (h *held) watch(t *testing.T, resourceVersion string) storage.Watcher {
	t.Helper()
	w, err := h.Watch(h.ctx, "/configmaps/", storage.WatchOptions{Recursive: true, ResourceVersion: resourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// awaitEvents returns when a watch without the hold has received an event after the latest one.
func (h *held) awaitEvents(t *testing.T) {
	t.Helper()
	w, err := h.Watch(t.Context(), "/configmaps/", storage.WatchOptions{
		Recursive: true, ResourceVersion: versioner.Format(h.latest),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	h.create(t, "c")
	<-w.Events()
}

func TestWithoutAHoldTheStoreIsTransparent(t *testing.T) {
	client := startEtcd(t).Client()
	var stores atomic.Int64
	storagetest.Run(t, storagetest.Harness{New: func(t *testing.T, codec storage.Codec) storagetest.Fixture {
		prefix := fmt.Sprintf("/registry/%d", stores.Add(1))
		backend, err := etcd.New(etcd.Config{Client: client, LocalReads: true, Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		return storagetest.Fixture{Store: stale.Wrap(backend.Store(codec)), Client: client, Prefix: prefix}
	}})
}

func TestReadsThatACacheMayAnswerAreHeld(t *testing.T) {
	h := start(t)
	ahead := versioner.Format(h.latest)
	for name, c := range map[string]struct {
		resourceVersion string
		objects         int // in a list; one fewer means that b is not found
		future          bool
	}{
		"without a resourceVersion":         {"", 2, false},
		"any resourceVersion":               {"0", 1, false},
		"a resourceVersion beyond the hold": {ahead, 0, true},
	} {
		n, err := h.list(t, storage.ListOptions{ResourceVersion: c.resourceVersion})
		if n != c.objects || errors.Is(err, storage.ErrFutureRevision) != c.future {
			t.Errorf("%s: a list has %d objects, %v", name, n, err)
		}
		_, err = h.Get(h.ctx, keyOf("b"), storage.GetOptions{ResourceVersion: c.resourceVersion})
		if errors.Is(err, storage.ErrFutureRevision) != c.future || errors.Is(err, storage.ErrNotFound) != (c.objects == 1) {
			t.Errorf("%s: a get returns %v", name, err)
		}
	}
	exact := storage.ListOptions{ResourceVersion: ahead, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	if n, err := h.list(t, exact); n != 2 || err != nil {
		t.Errorf("an exact list has %d objects, %v", n, err)
	}
	h.move(0)
	if n, err := h.list(t, storage.ListOptions{ResourceVersion: "0"}); n != 2 || err != nil {
		t.Errorf("after the hold a list has %d objects, %v", n, err)
	}
}

func TestWatchesWithholdLaterEvents(t *testing.T) {
	for name, release := range map[string]func(*held){
		"until the hold reaches them": func(h *held) { h.move(h.latest) },
		"until the hold ends":         func(h *held) { h.move(0) },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			w := h.watch(t, "0")
			if e := <-w.Events(); e.Type != watch.Added || e.Entry.Key != keyOf("a") {
				t.Fatalf("got %s %v, want the past state", e.Type, e.Entry)
			}
			if e := <-w.Events(); !e.InitialEventsEnd || e.Revision >= h.latest {
				t.Fatalf("got %s at %d, want the end of the past state", e.Type, e.Revision)
			}
			h.awaitEvents(t)
			select {
			case e := <-w.Events():
				t.Fatalf("%s at %d is not withheld", e.Type, e.Revision)
			default:
			}
			release(h)
			if e := <-w.Events(); e.Type != watch.Added || e.Revision != h.latest {
				t.Errorf("got %s at %d, want the creation at %d", e.Type, e.Revision, h.latest)
			}
		})
	}
}

func TestWatchStopsWhileEventsAreWithheld(t *testing.T) {
	h := start(t)
	w := h.watch(t, versioner.Format(h.revision.Load()))
	w.Stop()
	if e, open := <-w.Events(); open {
		t.Errorf("%s after the end", e.Type)
	}
}
