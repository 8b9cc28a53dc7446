package storagetest

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

func deleteCorruptRules() []rule {
	return []rule{
		{"an object that can be decoded is not deleted", deleteCorruptReadable},
		{"an object that can be decoded is not deleted with a suggestion", deleteCorruptSuggestion},
		{"returns ErrNotFound for a missing key", deleteCorruptMissing},
		{"a corrupt object is deleted", deleteCorruptDeletes},
		{"a watch that must decode the object ends with CorruptDeletedError", deleteCorruptWatch},
	}
}

func (e *env) deleteCorrupt(name string, opts storage.DeleteOptions) (*storage.Entry, error) {
	opts.OnlyCorrupt = true
	return e.Store.Delete(e.Context(), e.key(name), opts)
}

func deleteCorruptReadable(e *env) {
	created := e.create(e.object("a", "1"))
	_, err := e.deleteCorrupt("a", storage.DeleteOptions{})
	e.wantError(err, storage.ErrNotCorrupt, "delete", e.key("a"))
	e.wantStored("a", created.Revision, "1")
}

func deleteCorruptSuggestion(e *env) {
	created := e.create(e.object("a", "1"))
	_, err := e.deleteCorrupt("a", storage.DeleteOptions{Suggestion: created})
	e.wantError(err, storage.ErrNotCorrupt, "delete", e.key("a"))
	e.wantStored("a", created.Revision, "1")
}

func deleteCorruptMissing(e *env) {
	_, err := e.deleteCorrupt("a", storage.DeleteOptions{})
	e.wantError(err, storage.ErrNotFound, "delete", e.key("a"))
}

func deleteCorruptDeletes(e *env) {
	e.create(e.object("b", "1"))
	revision := e.spoil("a")
	entry, err := e.deleteCorrupt("a", storage.DeleteOptions{Preconditions: ifUID("ignored")})
	if err != nil {
		e.Fatal(err)
	}
	if entry.Key != e.key("a") || entry.Revision != revision+1 {
		e.Errorf("deleted %s at %d, want %s at %d", entry.Key, entry.Revision, e.key("a"), revision+1)
	}
	e.wantCorrupt(opened(entry, nil))
	e.wantAbsent("a")
	_, err = e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{})
	e.wantError(err, storage.ErrNotFound, "get", e.key("a"))
	e.wantNames(e.everything().Entries, "b")
}

func deleteCorruptWatch(e *env) {
	revision := e.spoil("a")
	s := e.watchAll(storage.WatchOptions{ResourceVersion: version(revision), Predicate: e.kind.Coloured("red")})
	if _, err := e.deleteCorrupt("a", storage.DeleteOptions{}); err != nil {
		e.Fatal(err)
	}
	event := s.next()
	var deleted *storage.CorruptDeletedError
	if event.Type != watch.Error || !errors.As(event.Err, &deleted) {
		e.Errorf("event is %+v, want a CorruptDeletedError", event)
	}
	e.wantCorrupt(event.Err)
	s.wantOver()
}
