package storagetest

import (
	"context"
	"errors"

	"github.com/miniapi/miniapi/storage"
)

func updateSuggestionRules() []rule {
	return []rule{
		{"a current suggestion is passed to the proposer once", suggestionCurrent},
		{"a stale suggestion causes another proposal", suggestionStale},
		{"an error for a stale suggestion is retried", suggestionStaleError},
		{"an error for a current suggestion is returned unchanged", suggestionCurrentError},
		{"an unchanged proposal for a stale suggestion is retried", suggestionStaleNoOp},
		{"an unchanged proposal for a current suggestion writes nothing", suggestionCurrentNoOp},
		{"a precondition that fails for a stale suggestion is retried", suggestionStalePrecondition},
		{"a precondition that only a stale suggestion passes fails", suggestionPassesPrecondition},
		{"a suggestion of a deleted object returns ErrNotFound", suggestionGone},
		{"a suggestion of a deleted object is created with CreateIfAbsent", suggestionGoneCreate},
		{"a deletion of a stale suggestion is proposed again", suggestionStaleDeletion},
	}
}

// stale creates object a with the value 1, updates it to 2, and returns both entries.
func (e *env) stale() (first, latest *storage.Entry) {
	e.Helper()
	first = e.create(e.object("a", "1"))
	return first, e.set("a", "2")
}

func nothing() {}

func suggestionCurrent(e *env) {
	_, latest := e.stale()
	propose, shown := e.raced(nothing, mark)
	result := e.update("a", propose, storage.UpdateOptions{Suggestion: latest})
	e.wantShown(shown, "2")
	e.wantStored("a", result.Entry.Revision, "2+mark")
}

func suggestionStale(e *env) {
	first, _ := e.stale()
	propose, shown := e.raced(nothing, mark)
	result := e.update("a", propose, storage.UpdateOptions{Suggestion: first})
	e.wantShown(shown, "1", "2")
	e.wantOutcome(result, storage.Updated)
	e.wantStored("a", result.Entry.Revision, "2+mark")
}

func suggestionStaleError(e *env) {
	first, _ := e.stale()
	propose, shown := e.raced(nothing, func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		if valueOf(e.open(current)) == "1" {
			return storage.Proposal{}, errors.New("made of a state that is gone")
		}
		return mark(ctx, current)
	})
	result := e.update("a", propose, storage.UpdateOptions{Suggestion: first})
	e.wantShown(shown, "1", "2")
	e.wantStored("a", result.Entry.Revision, "2+mark")
}

func suggestionCurrentError(e *env) {
	_, latest := e.stale()
	mine := errors.New("the proposer's own")
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), fail(mine), storage.UpdateOptions{Suggestion: latest})
	if err != mine {
		e.Errorf("error is %v, want %v", err, mine)
	}
	e.wantStored("a", latest.Revision, "2")
}

func suggestionStaleNoOp(e *env) {
	first, latest := e.stale()
	propose, shown := e.raced(nothing, change(func(obj Object) { setValue(obj, "1") }))
	result := e.update("a", propose, storage.UpdateOptions{Suggestion: first})
	e.wantShown(shown, "1", "2")
	e.wantOutcome(result, storage.Updated)
	if result.Entry.Revision <= latest.Revision {
		e.Errorf("the result has revision %d, not after %d", result.Entry.Revision, latest.Revision)
	}
	e.wantStored("a", result.Entry.Revision, "1")
}

func suggestionCurrentNoOp(e *env) {
	_, latest := e.stale()
	result := e.update("a", change(func(Object) {}), storage.UpdateOptions{Suggestion: latest})
	e.wantOutcome(result, storage.Unchanged)
	e.wantEntry(result.Entry, "a", latest.Revision, "2")
	e.wantRevision(latest.Revision)
}

func suggestionStalePrecondition(e *env) {
	first, latest := e.stale()
	propose, shown := e.raced(nothing, mark)
	result := e.update("a", propose,
		storage.UpdateOptions{Suggestion: first, Preconditions: ifVersion(version(latest.Revision))})
	e.wantShown(shown, "2")
	e.wantStored("a", result.Entry.Revision, "2+mark")
}

func suggestionPassesPrecondition(e *env) {
	first, latest := e.stale()
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), mark,
		storage.UpdateOptions{Suggestion: first, Preconditions: ifVersion(version(first.Revision))})
	e.wantError(err, storage.ErrPrecondition, "update", e.key("a"))
	e.wantStored("a", latest.Revision, "2")
}

func suggestionGone(e *env) {
	_, latest := e.stale()
	e.delete("a")
	proposals := map[string]storage.ProposeFunc{
		"write": mark, "no-op": change(func(Object) {}), "error": fail(errors.New("made of a state that is gone")), "delete": remove,
	}
	for name, propose := range proposals {
		e.sub(name, func(e *env) {
			_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), propose, storage.UpdateOptions{Suggestion: latest})
			e.wantError(err, storage.ErrNotFound, "update", e.key("a"))
			e.wantAbsent("a")
		})
	}
}

func suggestionGoneCreate(e *env) {
	_, latest := e.stale()
	e.delete("a")
	propose, shown := e.raced(nothing, e.upsert)
	result := e.update("a", propose, storage.UpdateOptions{Suggestion: latest, CreateIfAbsent: true})
	e.wantShown(shown, "2", "")
	e.wantOutcome(result, storage.Created)
	e.wantStored("a", result.Entry.Revision, "new")
}

func suggestionStaleDeletion(e *env) {
	first, _ := e.stale()
	propose, shown := e.raced(nothing, remove)
	result := e.update("a", propose, storage.UpdateOptions{Suggestion: first})
	e.wantShown(shown, "1", "2")
	e.wantOutcome(result, storage.Deleted)
	e.wantEntry(result.Entry, "a", e.revision(), "2")
	e.wantAbsent("a")
}
