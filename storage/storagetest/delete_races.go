package storagetest

import (
	"context"
	"errors"
	"sync"

	"github.com/miniapi/miniapi/storage"
)

func deleteRaceRules() []rule {
	return []rule{
		{"is validated again after a concurrent write", deleteRevalidates},
		{"is rejected if a concurrent write breaks a precondition", deleteRechecks},
		{"returns ErrNotFound after a concurrent deletion", deleteVanished},
		{"one of many concurrent deletions succeeds", deleteRace},
		{"a stale suggestion causes another validation", deleteStaleSuggestion},
		{"a rejection of a stale suggestion is validated again", deleteStaleRefusal},
		{"a rejection of a current suggestion is final", deleteCurrentRefusal},
		{"a precondition that only a stale suggestion passes fails", deleteStalePasses},
		{"a precondition that only a stale suggestion fails passes", deleteStaleFails},
		{"a suggestion of a deleted object returns ErrNotFound", deleteSuggestionGone},
	}
}

// validated returns a Validate function that calls meanwhile on its first run, and the values that
// it received.
func (e *env) validated(meanwhile func(), decide func(value string) error) (func(context.Context, *storage.Entry) error, *[]string) {
	var shown []string
	return func(_ context.Context, current *storage.Entry) error {
		value := valueOf(e.open(current))
		shown = append(shown, value)
		if len(shown) == 1 {
			meanwhile()
		}
		return decide(value)
	}, &shown
}

func allow(string) error { return nil }

// deleteChecked deletes object a with a proposal that calls validate first.
func (e *env) deleteChecked(validate func(context.Context, *storage.Entry) error, opts storage.UpdateOptions) (*storage.Entry, error) {
	result, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		return storage.Proposal{Delete: true}, validate(ctx, current)
	}, opts)
	if err != nil {
		return nil, err
	}
	return result.Entry, nil
}

func deleteRevalidates(e *env) {
	e.create(e.object("a", "1"))
	validate, shown := e.validated(func() { e.set("a", "2") }, allow)
	entry, err := e.deleteChecked(validate, storage.UpdateOptions{})
	if err != nil {
		e.Fatal(err)
	}
	e.wantShown(shown, "1", "2")
	e.wantEntry(entry, "a", e.revision(), "2")
}

func deleteRechecks(e *env) {
	created := e.create(e.object("a", "1"))
	var between *storage.Entry
	validate, shown := e.validated(func() { between = e.set("a", "2") }, allow)
	_, err := e.deleteChecked(validate, storage.UpdateOptions{Preconditions: ifVersion(version(created.Revision))})
	e.wantError(err, storage.ErrPrecondition, "update", e.key("a"))
	e.wantShown(shown, "1")
	e.wantStored("a", between.Revision, "2")
}

func deleteVanished(e *env) {
	e.create(e.object("a", "1"))
	validate, _ := e.validated(func() { e.delete("a") }, allow)
	_, err := e.deleteChecked(validate, storage.UpdateOptions{})
	e.wantError(err, storage.ErrNotFound, "update", e.key("a"))
}

func deleteRace(e *env) {
	const racers = 12
	e.create(e.object("a", "1"))
	var mu sync.Mutex
	wins := 0
	var racing sync.WaitGroup
	for range racers {
		racing.Go(func() {
			_, err := e.Store.Delete(e.Context(), e.key("a"), storage.DeleteOptions{})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				wins++
			} else if !errors.Is(err, storage.ErrNotFound) {
				e.Errorf("Delete: %v", err)
			}
		})
	}
	racing.Wait()
	if wins != 1 {
		e.Errorf("%d deletions won, want 1", wins)
	}
}

func deleteStaleSuggestion(e *env) {
	first, _ := e.stale()
	validate, shown := e.validated(nothing, allow)
	entry, err := e.deleteChecked(validate, storage.UpdateOptions{Suggestion: first})
	if err != nil {
		e.Fatal(err)
	}
	e.wantShown(shown, "1", "2")
	e.wantEntry(entry, "a", e.revision(), "2")
	e.wantAbsent("a")
}

func deleteStaleRefusal(e *env) {
	first, _ := e.stale()
	validate, shown := e.validated(nothing, func(value string) error {
		if value == "1" {
			return errors.New("made of a state that is gone")
		}
		return nil
	})
	_, err := e.deleteChecked(validate, storage.UpdateOptions{Suggestion: first})
	if err != nil {
		e.Fatal(err)
	}
	e.wantShown(shown, "1", "2")
	e.wantAbsent("a")
}

func deleteCurrentRefusal(e *env) {
	_, latest := e.stale()
	rejection := errors.New("validation's own")
	validate, _ := e.validated(nothing, func(string) error { return rejection })
	_, err := e.deleteChecked(validate, storage.UpdateOptions{Suggestion: latest})
	if err != rejection {
		e.Errorf("error is %v, want %v", err, rejection)
	}
	e.wantStored("a", latest.Revision, "2")
}

func deleteStalePasses(e *env) {
	first, latest := e.stale()
	_, err := e.Store.Delete(e.Context(), e.key("a"),
		storage.DeleteOptions{Suggestion: first, Preconditions: ifVersion(version(first.Revision))})
	e.wantError(err, storage.ErrPrecondition, "delete", e.key("a"))
	e.wantStored("a", latest.Revision, "2")
}

func deleteStaleFails(e *env) {
	first, latest := e.stale()
	_, err := e.Store.Delete(e.Context(), e.key("a"),
		storage.DeleteOptions{Suggestion: first, Preconditions: ifVersion(version(latest.Revision))})
	if err != nil {
		e.Error(err)
	}
	e.wantAbsent("a")
}

func deleteSuggestionGone(e *env) {
	_, latest := e.stale()
	e.delete("a")
	accept := func(context.Context, *storage.Entry) error { return nil }
	refuse := func(context.Context, *storage.Entry) error { return errors.New("made of a state that is gone") }
	for _, validate := range []func(context.Context, *storage.Entry) error{accept, refuse} {
		_, err := e.deleteChecked(validate, storage.UpdateOptions{Suggestion: latest})
		e.wantError(err, storage.ErrNotFound, "update", e.key("a"))
	}
}
