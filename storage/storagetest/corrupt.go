package storagetest

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

func corruptRules() []rule {
	return []rule{
		{"reading bytes that are no object is ErrCorrupt", corruptGet},
		{"bytes moved to another key are found out by a transformer", corruptMoved},
		{"a list that must look at the object is ErrCorrupt", corruptList},
		{"a watch that must look at the object ends with ErrCorrupt", corruptWatch},
		{"what is corrupt is counted", corruptCount},
		{"a deletion with a precondition is ErrCorrupt and deletes nothing", corruptDelete},
	}
}

// spoil puts bytes under a key that are no object.
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

// opened returns what keeps an entry from being read, be it found out when the
// entry is fetched or when it is opened.
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
