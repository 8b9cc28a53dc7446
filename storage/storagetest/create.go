package storagetest

import (
	"errors"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/storage"
)

func createRules() []rule {
	return []rule{
		{"returns the stored entry with its ModRevision", createReturnsEntry},
		{"neither modifies nor retains the object", createLeavesObjectAlone},
		{"never stores the version", createStoresNoVersion},
		{"rejects an object with a resourceVersion", createRefusesVersion},
		{"rejects an existing key", createRefusesTakenKey},
		{"accepts one of many concurrent creates", createRace},
		{"accepts a deleted key", createAfterDelete},
		{"rejects an object too large for the store", createRefusesTooLarge},
		{"writes nothing when the context has ended", createCancelled},
	}
}

func createReturnsEntry(e *env) {
	entry := e.create(e.object("a", "1"))
	e.wantEntry(entry, "a", e.revision(), "1")
	e.wantStored("a", entry.Revision, "1")
}

func createLeavesObjectAlone(e *env) {
	obj := e.object("a", "1")
	before := obj.DeepCopyObject()
	entry := e.create(obj)
	if diff := cmp.Diff(before, obj); diff != "" {
		e.Errorf("the object was changed (-before +after):\n%s", diff)
	}
	setValue(obj, "changed by the caller")
	e.wantEntry(entry, "a", entry.Revision, "1")
}

func createStoresNoVersion(e *env) {
	obj := e.object("a", "1")
	obj.SetSelfLink("/somewhere")
	e.create(obj)
	kv, err := e.raw(e.Context(), e.key("a"))
	if err != nil || kv == nil {
		e.Fatalf("nothing is stored: %v", err)
	}
	data, err := e.plain(e.Context(), kv)
	if err != nil {
		e.Fatal(err)
	}
	stored, err := e.kind.Codec.Decode(data)
	if err != nil {
		e.Fatal(err)
	}
	if o := stored.(Object); o.GetResourceVersion() != "" || o.GetSelfLink() != "" {
		e.Errorf("stored with resourceVersion %q and selfLink %q", o.GetResourceVersion(), o.GetSelfLink())
	}
}

func createRefusesVersion(e *env) {
	before := e.revision()
	obj := e.object("a", "1")
	obj.SetResourceVersion("5")
	if _, err := e.Store.Create(e.Context(), e.key("a"), obj, storage.CreateOptions{}); err == nil {
		e.Error("an object with a resourceVersion was created")
	}
	e.wantRevision(before)
}

func createRefusesTakenKey(e *env) {
	first := e.create(e.object("a", "1"))
	_, err := e.Store.Create(e.Context(), e.key("a"), e.object("a", "2"), storage.CreateOptions{})
	e.wantError(err, storage.ErrExists, "create", e.key("a"))
	e.wantStored("a", first.Revision, "1")
	e.wantRevision(first.Revision)
}

func createRace(e *env) {
	const racers = 16
	var wins, losses int
	var mu sync.Mutex
	var racing sync.WaitGroup
	for range racers {
		racing.Go(func() {
			_, err := e.Store.Create(e.Context(), e.key("a"), e.object("a", "1"), storage.CreateOptions{})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				wins++
			case errors.Is(err, storage.ErrExists):
				losses++
			default:
				e.Errorf("Create: %v", err)
			}
		})
	}
	racing.Wait()
	if wins != 1 || losses != racers-1 {
		e.Errorf("%d creates won and %d lost, want 1 and %d", wins, losses, racers-1)
	}
}

func createAfterDelete(e *env) {
	e.create(e.object("a", "1"))
	gone := e.delete("a")
	again := e.create(e.object("a", "2"))
	if again.Revision <= gone.Revision {
		e.Errorf("created again at %d, deleted at %d", again.Revision, gone.Revision)
	}
	e.wantStored("a", again.Revision, "2")
}

func createRefusesTooLarge(e *env) {
	before := e.revision()
	_, err := e.Store.Create(e.Context(), e.key("a"), e.object("a", tooLarge()), storage.CreateOptions{})
	e.wantError(err, storage.ErrTooLarge, "create", e.key("a"))
	e.wantRevision(before)
}

// tooLarge returns a value that exceeds the default request limit of etcd.
func tooLarge() string { return strings.Repeat("x", 16<<20) }

func createCancelled(e *env) {
	before := e.revision()
	ctx := cancelled(e.Context())
	if _, err := e.Store.Create(ctx, e.key("a"), e.object("a", "1"), storage.CreateOptions{}); err == nil {
		e.Error("Create succeeded on a context that has ended")
	}
	e.wantRevision(before)
}
