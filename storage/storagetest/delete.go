package storagetest

import (
	"context"
	"errors"

	"github.com/miniapi/miniapi/storage"
)

func deleteRules() []rule {
	return []rule{
		{"returns the last state with the revision of the deletion", deleteReturnsLast},
		{"returns ErrNotFound for a missing key", deleteMissing},
		{"does not delete other keys", deleteOneKey},
		{"a UID precondition", deleteUID},
		{"a resourceVersion precondition", deleteVersion},
		{"validation receives the current state and may reject", deleteValidation},
		{"writes nothing when the context has ended", deleteCancelled},
	}
}

func deleteReturnsLast(e *env) {
	e.create(e.object("a", "1"))
	updated := e.set("a", "2")
	entry := e.delete("a")
	e.wantEntry(entry, "a", e.revision(), "2")
	if entry.Revision != updated.Revision+1 {
		e.Errorf("deleted at %d, after a write at %d", entry.Revision, updated.Revision)
	}
	e.wantEntry(updated, "a", updated.Revision, "2") // published entries do not change
	e.wantAbsent("a")
}

func deleteMissing(e *env) {
	before := e.revision()
	_, err := e.Store.Delete(e.Context(), e.key("a"), storage.DeleteOptions{})
	e.wantError(err, storage.ErrNotFound, "delete", e.key("a"))
	e.wantRevision(before)
}

func deleteOneKey(e *env) {
	e.create(e.object("a", "1"))
	e.create(e.object("ab", "1"))
	e.delete("a")
	e.wantNames(e.everything().Entries, "ab")
}

func deleteUID(e *env) {
	created := e.create(e.object("a", "1"))
	_, err := e.Store.Delete(e.Context(), e.key("a"), storage.DeleteOptions{Preconditions: ifUID("another")})
	e.wantError(err, storage.ErrPrecondition, "delete", e.key("a"))
	e.wantStored("a", created.Revision, "1")
	if _, err := e.Store.Delete(e.Context(), e.key("a"), storage.DeleteOptions{Preconditions: ifUID("uid-of-a")}); err != nil {
		e.Error(err)
	}
	e.wantAbsent("a")
}

func deleteVersion(e *env) {
	first, latest := e.stale()
	_, err := e.Store.Delete(e.Context(), e.key("a"), storage.DeleteOptions{Preconditions: ifVersion(version(first.Revision))})
	e.wantError(err, storage.ErrPrecondition, "delete", e.key("a"))
	e.wantStored("a", latest.Revision, "2")
	if _, err := e.Store.Delete(e.Context(), e.key("a"), storage.DeleteOptions{Preconditions: ifVersion(version(latest.Revision))}); err != nil {
		e.Error(err)
	}
	e.wantAbsent("a")
}

func deleteValidation(e *env) {
	_, latest := e.stale()
	rejection := errors.New("validation's own")
	_, err := e.deleteChecked(func(_ context.Context, current *storage.Entry) error {
		e.wantEntry(current, "a", latest.Revision, "2")
		return rejection
	}, storage.UpdateOptions{})
	if err != rejection {
		e.Errorf("error is %v, want %v", err, rejection)
	}
	e.wantStored("a", latest.Revision, "2")
}

func deleteCancelled(e *env) {
	created := e.create(e.object("a", "1"))
	if _, err := e.Store.Delete(cancelled(e.Context()), e.key("a"), storage.DeleteOptions{}); err == nil {
		e.Error("Delete succeeded on a context that has ended")
	}
	e.wantStored("a", created.Revision, "1")
}
