package storagetest

import (
	"errors"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

func corruptRules() []rule {
	return []rule{
		{"get of an undecodable object returns ErrCorrupt", corruptGet},
		{"a transformer detects bytes moved to another key", corruptMoved},
		{"a list that must decode the object returns ErrCorrupt", corruptList},
		{"a list names every corrupt object and returns the others", corruptListNamesAll},
		{"a list stops after 100 corrupt objects", corruptListStops},
		{"a list without a predicate fails once an object was found to be corrupt", corruptListRemembers},
		{"a watch that must decode the object ends with ErrCorrupt", corruptWatch},
		{"count includes corrupt objects", corruptCount},
		{"a deletion with a precondition returns ErrCorrupt and deletes nothing", corruptDelete},
	}
}

// spoil writes bytes that cannot be decoded under a key.
func (e *env) spoil(name string) (revision int64) {
	e.Helper()
	revision, err := e.putRaw(e.Context(), e.key(name), []byte("\x00no object\xff"))
	if err != nil {
		e.Fatal(err)
	}
	return revision
}

func (e *env) wantCorrupt(err error) {
	e.Helper()
	if !errors.Is(err, storage.ErrCorrupt) {
		e.Errorf("error is %v, want %v", err, storage.ErrCorrupt)
	}
}

// opened returns the error of reading an entry, whether it occurs when the entry is fetched or
// when it is decoded.
func opened(entry *storage.Entry, err error) error {
	if err != nil {
		return err
	}
	_, err = entry.Object()
	return err
}

func corruptGet(e *env) {
	e.spoil("a")
	e.wantCorrupt(opened(e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{})))
}

func corruptMoved(e *env) {
	e.create(e.object("a", "1"))
	kv, err := e.raw(e.Context(), e.key("a"))
	if err != nil || kv == nil {
		e.Fatalf("nothing is stored: %v", err)
	}
	if _, err := e.putRaw(e.Context(), e.key("b"), kv.Value); err != nil {
		e.Fatal(err)
	}
	err = opened(e.Store.Get(e.Context(), e.key("b"), storage.GetOptions{}))
	if e.Transformer != nil {
		e.wantCorrupt(err)
	} else if err != nil {
		e.Errorf("the bytes are the same, but: %v", err)
	}
}

func corruptList(e *env) {
	e.create(e.painted("a", "1", "red"))
	e.spoil("b")
	_, err := e.Store.GetList(e.Context(), e.below(""), storage.ListOptions{Recursive: true, Predicate: e.kind.Coloured("red")})
	e.wantCorrupt(err)
}

// coloured lists the objects of one colour.
func (e *env) coloured(colour string) (*storage.Page, error) {
	return e.Store.GetList(e.Context(), e.below(""), storage.ListOptions{Recursive: true, Predicate: e.kind.Coloured(colour)})
}

// wantCorruptList checks which objects the error of a list names.
func (e *env) wantCorruptList(err error, want ...string) *storage.CorruptListError {
	e.Helper()
	e.wantCorrupt(err)
	var list *storage.CorruptListError
	if !errors.As(err, &list) {
		e.Fatalf("error is %v, want a CorruptListError", err)
	}
	var got []string
	for _, object := range list.Objects {
		got = append(got, object.Key)
	}
	for i, name := range want {
		want[i] = e.key(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("corrupt objects (-want +got):\n%s", diff)
	}
	return list
}

func corruptListNamesAll(e *env) {
	for _, name := range []string{"a", "c", "e"} {
		e.create(e.painted(name, "1", "red"))
	}
	e.spoil("b")
	e.spoil("d")
	page, err := e.coloured("red")
	if list := e.wantCorruptList(err, "b", "d"); list.Truncated {
		e.Error("the list is truncated")
	}
	e.wantNames(page.Entries, "a", "c", "e")
	_, err = e.Store.GetList(e.Context(), e.key("b"), storage.ListOptions{Predicate: e.kind.Coloured("red")})
	e.wantCorruptList(err, "b")
}

func corruptListStops(e *env) {
	var names []string
	for i := range 101 {
		names = append(names, fmt.Sprintf("o%03d", i))
		e.spoil(names[i])
	}
	_, err := e.coloured("red")
	if list := e.wantCorruptList(err, names[:100]...); !list.Truncated {
		e.Error("the list is not truncated")
	}
}

func corruptListRemembers(e *env) {
	e.create(e.object("a", "1"))
	e.spoil("b")
	opts := storage.ListOptions{Recursive: true}
	if page, err := e.Store.GetList(e.Context(), e.below(""), opts); err == nil {
		e.wantCorrupt(opened(page.Entries[1], nil))
	}
	page, err := e.Store.GetList(e.Context(), e.below(""), opts)
	e.wantCorruptList(err, "b")
	e.wantNames(page.Entries, "a")
}

func corruptWatch(e *env) {
	begun := e.revision()
	s := e.watchAll(storage.WatchOptions{ResourceVersion: version(begun), Predicate: e.kind.Coloured("red")})
	a := e.create(e.painted("a", "1", "red"))
	s.want(added(a, "a", "1"))
	e.spoil("b")
	event := s.next()
	if event.Type != watch.Error {
		e.Fatalf("event is %+v, want an error", event)
	}
	e.wantCorrupt(event.Err)
	s.wantOver()
}

func corruptCount(e *env) {
	e.create(e.object("a", "1"))
	e.spoil("b")
	e.wantCount(e.below(""), 2)
}

func corruptDelete(e *env) {
	revision := e.spoil("a")
	_, err := e.Store.Delete(e.Context(), e.key("a"), storage.DeleteOptions{Preconditions: ifUID("some")})
	e.wantCorrupt(err)
	e.wantRevision(revision)
}
