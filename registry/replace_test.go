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

// emptyLog is the log of a cache that never starts.
type emptyLog struct{ storage.Log }

// replaceResource replaces the resource of a store.
func replaceResource(e *registrytest.Env, store *registry.Store, replacement *registry.Resource) {
	e.Helper()
	if err := e.Catalog.Replace([]*registry.Resource{store.Resource()}, []*registry.Resource{replacement}); err != nil {
		e.Fatal(err)
	}
}

// wantWatchEnd reads a watch to its end and fails the test if it ends with an error.
func wantWatchEnd(t *testing.T, watcher storage.Watcher) {
	t.Helper()
	for event := range watcher.Events() {
		if event.Type == watch.Error {
			t.Errorf("the watch ends with %v", event.Err)
		}
	}
	watcher.Stop()
}

// A request may still hold the store of a replaced resource: its reads succeed and its watches end.
func TestRequestsOfReplacedStore(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("configmaps", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}})
	store := e.Store("configmaps")
	before, err := store.Watch(t.Context(), registry.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	replaceResource(e, store, registrytest.ConfigMaps())
	wantWatchEnd(t, before)
	for _, req := range []registry.ListRequest{{}, {ResourceVersion: "1"}, {SendInitialEvents: new(false)}} {
		after, err := store.Watch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		wantWatchEnd(t, after)
	}
	if _, err := store.Get(t.Context(), "x", "a", ""); err != nil {
		t.Error(err)
	}
	if page, err := store.List(t.Context(), registry.ListRequest{}); err != nil || len(page.Entries) != 1 {
		t.Errorf("page %v, error %v", page, err)
	}
}

// A watch that waits for the cache ends without an error when its resource is replaced.
func TestReplacementEndsAWaitingWatch(t *testing.T) {
	cache, err := watchcache.New(watchcache.Config{Log: emptyLog{}}) // it never becomes ready
	if err != nil {
		t.Fatal(err)
	}
	e := registrytest.NewCached(t, cache)
	store := e.Store("configmaps")
	started := make(chan error, 1)
	go func() { // ends when the resource is replaced
		watcher, err := store.Watch(t.Context(), registry.ListRequest{})
		if err == nil {
			wantWatchEnd(t, watcher)
		}
		started <- err
	}()
	replaceResource(e, store, registrytest.ConfigMaps())
	if err := <-started; err != nil {
		t.Errorf("Watch: %v", err)
	}
}
