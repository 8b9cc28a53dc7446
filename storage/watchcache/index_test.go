package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
	"github.com/miniapi/miniapi/versioner"
)

// byRoom returns attributes with the annotation room as a field. The same value is a label.
func byRoom(obj runtime.Object) (labels.Set, fields.Set, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, err
	}
	return accessor.GetLabels(), fields.Set{"room": accessor.GetAnnotations()["room"]}, nil
}

// labelledRoom selects the same objects as inRoom.
func labelledRoom(room int) storage.Predicate {
	return storage.Predicate{Label: labels.SelectorFromSet(labels.Set{"room": strconv.Itoa(room)}), Attrs: byRoom}
}

func inRoom(room int) storage.Predicate {
	return storage.Predicate{Field: fields.OneTermEqualSelector("room", strconv.Itoa(room)), Attrs: byRoom}
}

// roomStore is a store whose objects change the field room.
type roomStore struct {
	*testing.T
	storage.Interface
	direct storage.Interface // without the cache
	kind   storagetest.Kind
}

func newRoomStore(t *testing.T, cfg watchcache.Config) *roomStore {
	t.Helper()
	server := startEmbedded(t)
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, Member: server, ProgressInterval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	kind := storagetest.Kinds()[0]
	cfg.Log = backend
	direct := backend.Store(kind.Codec)
	return &roomStore{T: t, Interface: startCache(t, cfg).Store("/pods/", kind.Codec, direct), direct: direct, kind: kind}
}

// move sets the room of an object, or deletes the object if room is negative. It returns the
// revision of the write, or 0 if there was nothing to delete.
func (h *roomStore) move(name string, room int) int64 {
	h.Helper()
	key := h.kind.Key("ns"+name[:1], name)
	if room < 0 {
		deleted, err := h.Delete(h.Context(), key, storage.DeleteOptions{})
		switch {
		case err == nil:
			return deleted.Revision
		case !isNotFound(err):
			h.Error(err)
		}
		return 0
	}
	updated, err := h.GuaranteedUpdate(h.Context(), key, func(context.Context, *storage.Entry) (storage.Proposal, error) {
		obj := h.kind.New("ns"+name[:1], name, "1")
		obj.SetAnnotations(map[string]string{"room": strconv.Itoa(room)})
		obj.SetLabels(obj.GetAnnotations())
		return storage.Proposal{Object: obj}, nil
	}, storage.UpdateOptions{CreateIfAbsent: true})
	if err != nil {
		h.Error(err)
		return 0
	}
	return updated.Entry.Revision
}

// watch opens a watch that ends with the test.
func (h *roomStore) watch(s storage.Interface, key string, opts storage.WatchOptions) storage.Watcher {
	h.Helper()
	watcher, err := s.Watch(h.Context(), key, opts)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(watcher.Stop)
	return watcher
}

// check compares the selected objects with the state of their revision.
func (h *roomStore) check(key string, selected storage.Predicate) {
	h.Helper()
	opts := storage.ListOptions{Recursive: true, Predicate: selected}
	page, err := h.GetList(h.Context(), key, opts)
	if err != nil {
		h.Error(err)
		return
	}
	// A list at an exact revision is never answered from an index.
	opts.ResourceVersion = versioner.Format(page.Revision)
	opts.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	want, err := h.GetList(h.Context(), key, opts)
	if err != nil {
		h.Error(err)
		return
	}
	if diff := cmp.Diff(versions(want), versions(page)); diff != "" {
		h.Errorf("%s, %v %v, at revision %d (-want +got):\n%s", key, selected.Label, selected.Field, page.Revision, diff)
	}
}

func versions(page *storage.Page) []string {
	var all []string
	for _, entry := range page.Entries {
		all = append(all, fmt.Sprintf("%s@%d", entry.Key, entry.Revision))
	}
	return all
}

// TestIndexMatchesState lists by a field and by a label while objects change.
func TestIndexMatchesState(t *testing.T) {
	// The window is so small that the index must be rebuilt often.
	h := newRoomStore(t, watchcache.Config{IndexFrom: 1, WindowEvents: 8})
	var movers sync.WaitGroup
	for i := range 3 {
		movers.Go(func() {
			for range 200 {
				h.move(fmt.Sprintf("%d-%d", i, rand.N(10)), rand.N(5)-1)
			}
		})
	}
	done := make(chan struct{})
	go func() { // ends with the movers
		movers.Wait()
		close(done)
	}()
	for lists := 0; ; lists++ {
		select {
		case <-done:
			for room := range 4 {
				h.check("/pods/", inRoom(room))
				h.check("/pods/", labelledRoom(room))
			}
			t.Logf("%d lists", lists)
			return
		default:
			selected := []func(int) storage.Predicate{inRoom, labelledRoom}[lists/2%2]
			h.check([]string{"/pods/", "/pods/ns1/"}[lists%2], selected(rand.N(4)))
		}
	}
}

// TestIndexReportsUnreadableObjects checks that an unreadable object is reported, not omitted.
func TestIndexReportsUnreadableObjects(t *testing.T) {
	h := newRoomStore(t, watchcache.Config{IndexFrom: 1})
	h.move("1-1", 1)
	h.check("/pods/", inRoom(1))
	opts := storage.ListOptions{Recursive: true, Predicate: inRoom(1)}
	opts.Predicate.Attrs = func(runtime.Object) (labels.Set, fields.Set, error) { return nil, nil, storage.ErrCorrupt }
	h.move("1-2", 1)
	if page, err := h.GetList(t.Context(), "/pods/", opts); err == nil {
		t.Errorf("the list is %v", versions(page))
	}
}

// TestIndexesOfManyLabels lists by more labels than a resource has indexes.
func TestIndexesOfManyLabels(t *testing.T) {
	h := newRoomStore(t, watchcache.Config{IndexFrom: 1})
	h.move("1-1", 1)
	for i := range 30 {
		label := fmt.Sprint("label-", i%20)
		h.check("/pods/", storage.Predicate{Label: labels.SelectorFromSet(labels.Set{label: "1"}), Attrs: byRoom})
		h.move("1-2", i%3)
		h.check("/pods/", labelledRoom(1))
	}
}

// TestSelectorsOfIndexes lists by selectors that demand one value of a label, and by selectors that
// do not.
func TestSelectorsOfIndexes(t *testing.T) {
	h := newRoomStore(t, watchcache.Config{IndexFrom: 1})
	for i := range 8 {
		h.move(fmt.Sprintf("%d-1", i), i%3)
	}
	for _, text := range []string{
		"room=1", "room==1", "room in (1)", "room in (1,2)", "room notin (1)", "room!=1", "room", "!room",
		"room=", "other=1", "room=1,other", "room=1,!other", "!other,room=1", "room>0", "room=1,room=2",
	} {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		h.check("/pods/", storage.Predicate{Label: selector, Attrs: byRoom})
		h.check("/pods/ns1/", storage.Predicate{Label: selector, Field: inRoom(1).Field, Attrs: byRoom})
	}
}

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }
