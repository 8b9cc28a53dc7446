package storagetest

import (
	"context"
	"errors"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

func getRules() []rule {
	return []rule{
		{"returns the latest state", getLatest},
		{"returns ErrNotFound for a missing key", getMissing},
		{"distinguishes a name from a longer name", getWholeName},
		{"returns any state for resourceVersion 0", getAny},
		{"returns a state not older than N", getNotOlderThan},
		{"rejects a resourceVersion ahead of the store", getFuture},
		{"rejects an invalid resourceVersion", getInvalidVersion},
		{"returns every acknowledged write", getReadsWrites},
		{"ends with its context", getCancelled},
	}
}

func getLatest(e *env) {
	e.create(e.object("a", "1"))
	latest := e.set("a", "2")
	e.create(e.object("b", "1"))
	e.wantEntry(e.get("a"), "a", latest.Revision, "2")
}

func getMissing(e *env) {
	_, err := e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{})
	e.wantError(err, storage.ErrNotFound, "get", e.key("a"))
	e.create(e.object("a", "1"))
	e.delete("a")
	_, err = e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{})
	e.wantError(err, storage.ErrNotFound, "get", e.key("a"))
}

func getWholeName(e *env) {
	e.create(e.object("ab", "1"))
	_, err := e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{})
	e.wantError(err, storage.ErrNotFound, "get", e.key("a"))
}

func getAny(e *env) {
	created := e.create(e.object("a", "1"))
	entry, err := e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{ResourceVersion: "0"})
	if errors.Is(err, storage.ErrNotFound) {
		return // a state before the create is valid too
	}
	if err != nil {
		e.Fatal(err)
	}
	e.wantEntry(entry, "a", created.Revision, "1")
}

func getNotOlderThan(e *env) {
	first := e.create(e.object("a", "1"))
	second := e.set("a", "2")
	entry, err := e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{ResourceVersion: version(second.Revision)})
	if err != nil {
		e.Fatal(err)
	}
	e.wantEntry(entry, "a", second.Revision, "2")
	entry, err = e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{ResourceVersion: version(first.Revision)})
	if err != nil {
		e.Fatal(err)
	}
	if entry.Revision < first.Revision {
		e.Errorf("the state is of revision %d, older than %d", entry.Revision, first.Revision)
	}
}

func getFuture(e *env) {
	asked := e.create(e.object("a", "1")).Revision + 1000
	_, err := e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{ResourceVersion: version(asked)})
	e.wantError(err, storage.ErrFutureRevision, "get", e.key("a"))
	e.wantFuture(err, asked)
}

// wantFuture checks the revisions of a FutureRevisionError.
func (e *env) wantFuture(err error, asked int64) {
	e.Helper()
	var future *storage.FutureRevisionError
	if !errors.As(err, &future) {
		e.Errorf("error %v is not a FutureRevisionError", err)
		return
	}
	if current := e.revision(); future.Requested != asked || future.Current != current {
		e.Errorf("error has requested revision %d and current revision %d, want %d and %d", future.Requested, future.Current, asked, current)
	}
}

func getInvalidVersion(e *env) {
	e.create(e.object("a", "1"))
	for _, malformed := range []string{"abc", "-1", "1.5", "99999999999999999999"} {
		_, err := e.Store.Get(e.Context(), e.key("a"), storage.GetOptions{ResourceVersion: malformed})
		if !errors.Is(err, versioner.ErrInvalidVersion) {
			e.Errorf("Get at %q: %v, want %v", malformed, err, versioner.ErrInvalidVersion)
		}
	}
}

func getReadsWrites(e *env) {
	e.create(e.object("a", "0"))
	for range 50 {
		written := e.set("a", version(e.revision()))
		if got := e.get("a"); got.Revision != written.Revision {
			e.Fatalf("read revision %d after %d was acknowledged", got.Revision, written.Revision)
		}
	}
}

func getCancelled(e *env) {
	e.create(e.object("a", "1"))
	if _, err := e.Store.Get(cancelled(e.Context()), e.key("a"), storage.GetOptions{}); err == nil {
		e.Error("Get succeeded on a context that has ended")
	}
}

func cancelled(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	cancel()
	return ctx
}
