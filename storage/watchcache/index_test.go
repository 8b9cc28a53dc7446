package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

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

// byRoom returns attributes with the annotation room as a field.
func byRoom(obj runtime.Object) (labels.Set, fields.Set, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, err
	}
	return accessor.GetLabels(), fields.Set{"room": accessor.GetAnnotations()["room"]}, nil
}

func inRoom(room int) storage.Predicate {
	return storage.Predicate{Field: fields.OneTermEqualSelector("room", strconv.Itoa(room)), Attrs: byRoom}
}

// roomStore is a store whose objects change the field room. Its window is so small that the index
// must be rebuilt often.
type roomStore struct {
	*testing.T
	storage.Interface
	kind storagetest.Kind
}

func newRoomStore(t *testing.T) *roomStore {
	t.Helper()
	server := startEmbedded(t)
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, Member: server})
	if err != nil {
		t.Fatal(err)
	}
	kind := storagetest.Kinds()[0]
	cache := startCache(t, watchcache.Config{Log: backend, IndexFrom: 1, WindowEvents: 8})
	return &roomStore{T: t, Interface: cache.Store("/pods/", kind.Codec, backend.Store(kind.Codec)), kind: kind}
}

// move sets the room of an object, or deletes the object if room is negative.
func (h *roomStore) move(name string, room int) {
	h.Helper()
	key := h.kind.Key("ns"+name[:1], name)
	if room < 0 {
		if _, err := h.Delete(h.Context(), key, storage.DeleteOptions{}); err != nil && !isNotFound(err) {
			h.Error(err)
		}
		return
	}
	_, err := h.GuaranteedUpdate(h.Context(), key, func(context.Context, *storage.Entry) (storage.Proposal, error) {
		obj := h.kind.New("ns"+name[:1], name, "1")
		obj.SetAnnotations(map[string]string{"room": strconv.Itoa(room)})
		return storage.Proposal{Object: obj}, nil
	}, storage.UpdateOptions{CreateIfAbsent: true})
	if err != nil {
		h.Error(err)
	}
}

// check compares a list by room with the state of its revision.
func (h *roomStore) check(key string, room int) {
	h.Helper()
	opts := storage.ListOptions{Recursive: true, Predicate: inRoom(room)}
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
		h.Errorf("%s in room %d at revision %d (-want +got):\n%s", key, room, page.Revision, diff)
	}
}

func versions(page *storage.Page) []string {
	var all []string
	for _, entry := range page.Entries {
		all = append(all, fmt.Sprintf("%s@%d", entry.Key, entry.Revision))
	}
	return all
}

// TestIndexMatchesState lists by a field while objects change.
func TestIndexMatchesState(t *testing.T) {
	h := newRoomStore(t)
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
				h.check("/pods/", room)
			}
			t.Logf("%d lists", lists)
			return
		default:
			h.check([]string{"/pods/", "/pods/ns1/"}[lists%2], rand.N(4))
		}
	}
}

// TestIndexReportsUnreadableObjects checks that an unreadable object is reported, not omitted.
func TestIndexReportsUnreadableObjects(t *testing.T) {
	h := newRoomStore(t)
	h.move("1-1", 1)
	h.check("/pods/", 1)
	opts := storage.ListOptions{Recursive: true, Predicate: inRoom(1)}
	opts.Predicate.Attrs = func(runtime.Object) (labels.Set, fields.Set, error) { return nil, nil, storage.ErrCorrupt }
	h.move("1-2", 1)
	if page, err := h.GetList(t.Context(), "/pods/", opts); err == nil {
		t.Errorf("the list is %v", versions(page))
	}
}

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }
