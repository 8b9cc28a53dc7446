package watchcache_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// A watch reports the entry that the write returned, whichever of both gets it first, so that the
// object is decoded and encoded once for both.
func TestWritesAndWatchesShareEntries(t *testing.T) {
	server := startEmbedded(t)
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, Member: server})
	if err != nil {
		t.Fatal(err)
	}
	kind := storagetest.Kinds()[0]
	cache := startCache(t, watchcache.Config{Log: backend, Memo: storage.NewMemo(storage.DefaultMemo)})
	store := cache.Store("/pods/", kind.Codec, backend.Store(kind.Codec))
	if err := cache.AwaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	watcher, err := store.Watch(t.Context(), "/pods/", storage.WatchOptions{Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	create := func(name string) *storage.Entry {
		entry, err := store.Create(t.Context(), kind.Key("ns", name), kind.New("ns", name, "1"), storage.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return entry
	}
	update := func(name string) *storage.Entry {
		result, err := store.GuaranteedUpdate(t.Context(), kind.Key("ns", name), func(context.Context, *storage.Entry) (storage.Proposal, error) {
			return storage.Proposal{Object: kind.New("ns", name, "2")}, nil
		}, storage.UpdateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return result.Entry
	}
	next := func() *storage.Entry {
		for e := range watcher.Events() {
			if e.Type != watch.Bookmark {
				return e.Entry
			}
		}
		t.Fatal("the watch has ended")
		return nil
	}
	create("first")
	next() // the watch reads the window from now on
	for i := range 20 {
		name := fmt.Sprint(i)
		if written, seen := create(name), next(); written != seen {
			t.Errorf("the creation of %s: the entries differ", seen.Key)
		}
		if written, seen := update(name), next(); written != seen {
			t.Errorf("the update of %s: the entries differ", seen.Key)
		}
	}
}
