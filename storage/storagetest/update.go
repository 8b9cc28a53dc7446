package storagetest

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
)

func updateRules() []rule {
	return []rule{
		{"writes the proposal and returns it with its revision", updateWrites},
		{"passes the current state without a TTL to the proposer", updateShowsCurrent},
		{"a proposal that changes nothing writes nothing", updateNoOp},
		{"the resourceVersion of a proposal is not stored", updateIgnoresVersion},
		{"returns ErrNotFound for a missing key", updateMissing},
		{"creates a missing key with CreateIfAbsent", updateCreatesAbsent},
		{"updates an existing key with CreateIfAbsent", updateCreateOrUpdate},
		{"returns an error of the proposer unchanged", updateProposerError},
		{"a UID precondition", updateUID},
		{"a resourceVersion precondition", updateVersion},
		{"a failed precondition prevents the proposal", updatePreconditionFirst},
		{"a proposal can delete", updateDeletes},
		{"rejects an object too large for the store", updateRefusesTooLarge},
		{"writes nothing when the context has ended", updateCancelled},
	}
}

func (e *env) wantOutcome(result *storage.UpdateResult, want storage.Outcome) {
	e.Helper()
	if result.Outcome != want {
		e.Errorf("outcome is %v, want %v", result.Outcome, want)
	}
}

func updateWrites(e *env) {
	created := e.create(e.object("a", "1"))
	result := e.update("a", change(func(obj Object) { setValue(obj, "2") }), storage.UpdateOptions{})
	e.wantOutcome(result, storage.Updated)
	e.wantEntry(result.Entry, "a", e.revision(), "2")
	e.wantStored("a", result.Entry.Revision, "2")
	if result.Entry.Revision <= created.Revision {
		e.Errorf("updated at %d, created at %d", result.Entry.Revision, created.Revision)
	}
	e.wantEntry(created, "a", created.Revision, "1") // published entries do not change
}

func updateShowsCurrent(e *env) {
	e.create(e.object("a", "1"))
	latest := e.set("a", "2")
	runs := 0
	e.update("a", func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		runs++
		e.wantEntry(current, "a", latest.Revision, "2")
		return proposeValue(current, "3")
	}, storage.UpdateOptions{})
	if runs != 1 {
		e.Errorf("the proposer ran %d times", runs)
	}
}

// proposeValue proposes the current object with another value.
func proposeValue(current *storage.Entry, value string) (storage.Proposal, error) {
	return change(func(obj Object) { setValue(obj, value) })(context.Background(), current)
}

func updateNoOp(e *env) {
	created := e.create(e.object("a", "1"))
	for range 3 {
		result := e.update("a", change(func(Object) {}), storage.UpdateOptions{})
		e.wantOutcome(result, storage.Unchanged)
		e.wantEntry(result.Entry, "a", created.Revision, "1")
	}
	e.wantRevision(created.Revision)
	e.wantStored("a", created.Revision, "1")
}

func updateIgnoresVersion(e *env) {
	created := e.create(e.object("a", "1"))
	for _, version := range []string{"", "1", "999999"} {
		result := e.update("a", change(func(obj Object) { obj.SetResourceVersion(version) }), storage.UpdateOptions{})
		e.wantOutcome(result, storage.Unchanged)
		e.wantEntry(result.Entry, "a", created.Revision, "1")
	}
}

func updateMissing(e *env) {
	before := e.revision()
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), func(context.Context, *storage.Entry) (storage.Proposal, error) {
		e.Error("the proposer ran")
		return storage.Proposal{}, errors.New("unwanted")
	}, storage.UpdateOptions{})
	e.wantError(err, storage.ErrNotFound, "update", e.key("a"))
	e.wantRevision(before)
}

func updateCreatesAbsent(e *env) {
	result := e.update("a", func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		if current != nil {
			e.Errorf("want no current entry, got %+v", current)
		}
		return storage.Proposal{Object: e.object("a", "1")}, nil
	}, storage.UpdateOptions{CreateIfAbsent: true})
	e.wantOutcome(result, storage.Created)
	e.wantEntry(result.Entry, "a", e.revision(), "1")
	e.wantStored("a", result.Entry.Revision, "1")
}

func updateCreateOrUpdate(e *env) {
	e.create(e.object("a", "1"))
	result := e.update("a", change(func(obj Object) { setValue(obj, "2") }), storage.UpdateOptions{CreateIfAbsent: true})
	e.wantOutcome(result, storage.Updated)
	e.wantStored("a", result.Entry.Revision, "2")
}

func updateProposerError(e *env) {
	created := e.create(e.object("a", "1"))
	mine := errors.New("the proposer's own")
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), fail(mine), storage.UpdateOptions{})
	if err != mine { // the error must not be wrapped
		e.Errorf("error is %v, want %v", err, mine)
	}
	e.wantRevision(created.Revision)
}

func fail(err error) storage.ProposeFunc {
	return func(context.Context, *storage.Entry) (storage.Proposal, error) { return storage.Proposal{}, err }
}

func ifUID(uid string) *storage.Preconditions {
	u := types.UID(uid)
	return &storage.Preconditions{UID: &u}
}

func ifVersion(version string) *storage.Preconditions {
	return &storage.Preconditions{ResourceVersion: &version}
}

func (e *env) setIf(preconditions *storage.Preconditions, value string) error {
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"),
		change(func(obj Object) { setValue(obj, value) }), storage.UpdateOptions{Preconditions: preconditions})
	return err
}

func updateUID(e *env) {
	created := e.create(e.object("a", "1"))
	e.wantError(e.setIf(ifUID("another"), "2"), storage.ErrPrecondition, "update", e.key("a"))
	e.wantRevision(created.Revision)
	if err := e.setIf(ifUID("uid-of-a"), "2"); err != nil {
		e.Error(err)
	}
}

func updateVersion(e *env) {
	created := e.create(e.object("a", "1"))
	latest := e.set("a", "2")
	e.wantError(e.setIf(ifVersion(version(created.Revision)), "3"), storage.ErrPrecondition, "update", e.key("a"))
	e.wantRevision(latest.Revision)
	if err := e.setIf(ifVersion(version(latest.Revision)), "3"); err != nil {
		e.Error(err)
	}
}

func updatePreconditionFirst(e *env) {
	e.create(e.object("a", "1"))
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), func(context.Context, *storage.Entry) (storage.Proposal, error) {
		e.Error("the proposer ran")
		return storage.Proposal{}, errors.New("unwanted")
	}, storage.UpdateOptions{Preconditions: ifUID("another")})
	e.wantError(err, storage.ErrPrecondition, "update", e.key("a"))
}

// remove proposes a deletion.
func remove(context.Context, *storage.Entry) (storage.Proposal, error) {
	return storage.Proposal{Delete: true}, nil
}

func updateDeletes(e *env) {
	e.create(e.object("a", "1"))
	e.set("a", "2")
	result := e.update("a", remove, storage.UpdateOptions{})
	e.wantOutcome(result, storage.Deleted)
	e.wantEntry(result.Entry, "a", e.revision(), "2")
	e.wantAbsent("a")
}

func updateRefusesTooLarge(e *env) {
	created := e.create(e.object("a", "1"))
	e.wantError(e.setIf(nil, tooLarge()), storage.ErrTooLarge, "update", e.key("a"))
	e.wantStored("a", created.Revision, "1")
}

func updateCancelled(e *env) {
	created := e.create(e.object("a", "1"))
	_, err := e.Store.GuaranteedUpdate(cancelled(e.Context()), e.key("a"),
		change(func(obj Object) { setValue(obj, "2") }), storage.UpdateOptions{})
	if err == nil {
		e.Error("GuaranteedUpdate succeeded on a context that has ended")
	}
	e.wantStored("a", created.Revision, "1")
}
