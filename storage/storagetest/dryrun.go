package storagetest

import (
	"context"
	"errors"

	"github.com/miniapi/miniapi/storage"
)

func dryRunRules() []rule {
	return []rule{
		{"a create returns the object without a revision", dryCreate},
		{"a create of an existing key is rejected", dryCreateTaken},
		{"an update returns the object", dryUpdate},
		{"an update creates nothing", dryUpdateCreate},
		{"an update deletes nothing", dryUpdateDelete},
		{"an update that changes nothing returns Unchanged", dryUpdateNoOp},
		{"an update runs all checks", dryUpdateChecks},
		{"a deletion runs all checks", dryDeleteChecks},
	}
}

func dryCreate(e *env) {
	before := e.revision()
	entry := e.createWith(e.object("a", "1"), storage.CreateOptions{DryRun: true, TTL: 3600})
	e.wantEntry(entry, "a", 0, "1")
	if got := e.open(entry).GetResourceVersion(); got != "" {
		e.Errorf("the object has resourceVersion %q", got)
	}
	e.wantAbsent("a")
	e.wantRevision(before)
}

func dryCreateTaken(e *env) {
	created := e.create(e.object("a", "1"))
	_, err := e.Store.Create(e.Context(), e.key("a"), e.object("a", "2"), storage.CreateOptions{DryRun: true})
	e.wantError(err, storage.ErrExists, "create", e.key("a"))
	e.wantRevision(created.Revision)
}

func dry() storage.UpdateOptions { return storage.UpdateOptions{DryRun: true} }

func dryUpdate(e *env) {
	created := e.create(e.object("a", "1"))
	result := e.update("a", mark, dry())
	e.wantOutcome(result, storage.Updated)
	e.wantEntry(result.Entry, "a", created.Revision, "1+mark")
	e.wantStored("a", created.Revision, "1")
	e.wantRevision(created.Revision)
}

func dryUpdateCreate(e *env) {
	before := e.revision()
	result := e.update("a", e.upsert, storage.UpdateOptions{DryRun: true, CreateIfAbsent: true})
	e.wantOutcome(result, storage.Created)
	e.wantEntry(result.Entry, "a", 0, "new")
	e.wantAbsent("a")
	e.wantRevision(before)
}

func dryUpdateDelete(e *env) {
	created := e.create(e.object("a", "1"))
	result := e.update("a", remove, dry())
	e.wantOutcome(result, storage.Deleted)
	e.wantEntry(result.Entry, "a", created.Revision, "1")
	e.wantStored("a", created.Revision, "1")
	e.wantRevision(created.Revision)
}

func dryUpdateNoOp(e *env) {
	created := e.create(e.object("a", "1"))
	result := e.update("a", change(func(Object) {}), dry())
	e.wantOutcome(result, storage.Unchanged)
	e.wantEntry(result.Entry, "a", created.Revision, "1")
}

func dryUpdateChecks(e *env) {
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), mark, dry())
	e.wantError(err, storage.ErrNotFound, "update", e.key("a"))
	first, _ := e.stale()
	_, err = e.Store.GuaranteedUpdate(e.Context(), e.key("a"), mark,
		storage.UpdateOptions{DryRun: true, Preconditions: ifUID("another")})
	e.wantError(err, storage.ErrPrecondition, "update", e.key("a"))
	mine := errors.New("the proposer's own")
	if _, err = e.Store.GuaranteedUpdate(e.Context(), e.key("a"), fail(mine), dry()); err != mine {
		e.Errorf("error is %v, want %v", err, mine)
	}
	result := e.update("a", mark, storage.UpdateOptions{DryRun: true, Suggestion: first})
	e.wantOutcome(result, storage.Updated)
	if got := valueOf(e.open(result.Entry)); got != "2+mark" {
		e.Errorf("a dry run on a stale suggestion ends in %q", got)
	}
}

func dryDeleteChecks(e *env) {
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), remove, dry())
	e.wantError(err, storage.ErrNotFound, "update", e.key("a"))
	first, latest := e.stale()
	_, err = e.Store.GuaranteedUpdate(e.Context(), e.key("a"), remove,
		storage.UpdateOptions{DryRun: true, Preconditions: ifUID("another")})
	e.wantError(err, storage.ErrPrecondition, "update", e.key("a"))
	rejection := errors.New("validation's own")
	_, err = e.deleteChecked(func(context.Context, *storage.Entry) error { return rejection }, dry())
	if err != rejection {
		e.Errorf("error is %v, want %v", err, rejection)
	}
	result := e.update("a", remove, storage.UpdateOptions{DryRun: true, Suggestion: first})
	e.wantEntry(result.Entry, "a", latest.Revision, "2")
	e.wantRevision(latest.Revision)
}
