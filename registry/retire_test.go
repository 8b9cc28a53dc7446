package registry_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// emptyLog is a log that no cache is fed from.
type emptyLog struct{ storage.Log }

// replace puts another resource into the place of a store's.
func replace(e *registrytest.Env, store *registry.Store, by *registry.Resource) {
	e.Helper()
	if err := e.Catalog.Replace([]*registry.Resource{store.Resource()}, []*registry.Resource{by}); err != nil {
		e.Fatal(err)
	}
}

// wantEnd reads a watch to its end, which is no error.
func wantEnd(t *testing.T, watcher storage.Watcher) {
	t.Helper()
	for event := range watcher.Events() {
		if event.Type == watch.Error {
			t.Errorf("the watch ends with %v", event.Err)
		}
	}
	watcher.Stop()
}

// TestRequestsOfReplacedStore shows what requests come to that hold a store when its resource is
// replaced: reads are answered, and watches end.
func TestRequestsOfReplacedStore(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("configmaps", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}})
	store := e.Store("configmaps")
	before, err := store.Watch(t.Context(), registry.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	replace(e, store, registrytest.ConfigMaps())
	wantEnd(t, before)
	for _, req := range []registry.ListRequest{{}, {ResourceVersion: "1"}, {SendInitialEvents: new(false)}} {
		after, err := store.Watch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		wantEnd(t, after)
	}
	if _, err := store.Get(t.Context(), "x", "a", ""); err != nil {
		t.Error(err)
	}
	if page, err := store.List(t.Context(), registry.ListRequest{}); err != nil || len(page.Entries) != 1 {
		t.Errorf("list is %v: %v", page, err)
	}
}

// TestWatchBeginsAsItsStoreIsReplaced replaces a resource while a watch of it waits for the cache:
// it is a watch that has ended.
func TestWatchBeginsAsItsStoreIsReplaced(t *testing.T) {
	cache, err := watchcache.New(watchcache.Config{Log: emptyLog{}}) // it never has a state
	if err != nil {
		t.Fatal(err)
	}
	e := registrytest.NewCached(t, cache)
	store := e.Store("configmaps")
	begun := make(chan error, 1)
	go func() { // ends when the resource is replaced
		watcher, err := store.Watch(t.Context(), registry.ListRequest{})
		if err == nil {
			wantEnd(t, watcher)
		}
		begun <- err
	}()
	replace(e, store, registrytest.ConfigMaps())
	if err := <-begun; err != nil {
		t.Errorf("the watch fails: %v", err)
	}
}
