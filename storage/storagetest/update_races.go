package storagetest

import (
	"context"
	"strconv"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/storage"
)

func updateRaceRules() []rule {
	return []rule{
		{"concurrent increments lose no write", raceCounters},
		{"a lost race passes the current state to the proposer", raceLost},
		{"a key that was deleted and recreated with the same bytes is a conflict", raceRecreated},
		{"a key deleted concurrently returns ErrNotFound", raceVanished},
		{"a key deleted concurrently is created with CreateIfAbsent", raceVanishedCreate},
		{"a key created concurrently is updated", raceAppeared},
		{"one of many concurrent updates creates and no update is lost", raceCreators},
		{"a deletion is proposed again after a concurrent write", raceDeletion},
		{"preconditions are checked again after a lost race", racePreconditions},
		{"a lost race can end in an unchanged proposal", raceNoOp},
	}
}

func raceCounters(e *env) {
	const writers, increments = 8, 25
	e.create(e.object("a", "0"))
	var mu sync.Mutex
	revisions := map[int64]bool{}
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range increments {
				result, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), increment, storage.UpdateOptions{})
				if err != nil {
					e.Errorf("GuaranteedUpdate: %v", err)
					return
				}
				mu.Lock()
				revisions[result.Entry.Revision] = true
				mu.Unlock()
			}
		})
	}
	writing.Wait()
	if got, want := valueOf(e.open(e.get("a"))), strconv.Itoa(writers*increments); got != want {
		e.Errorf("the counter ends at %s, want %s", got, want)
	}
	if len(revisions) != writers*increments {
		e.Errorf("%d writes have %d revisions", writers*increments, len(revisions))
	}
}

func increment(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
	obj, err := current.Object()
	if err != nil {
		return storage.Proposal{}, err
	}
	n, err := strconv.Atoi(valueOf(obj.(Object)))
	if err != nil {
		return storage.Proposal{}, err
	}
	return proposeValue(current, strconv.Itoa(n+1))
}

// raced returns a propose function that calls meanwhile before its first proposal, and the values
// that it received, "" for no object.
func (e *env) raced(meanwhile func(), propose storage.ProposeFunc) (storage.ProposeFunc, *[]string) {
	var shown []string
	return func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		value := ""
		if current != nil {
			e.wantResourceVersion(current)
			value = valueOf(e.open(current))
		}
		shown = append(shown, value)
		if len(shown) == 1 {
			meanwhile()
		}
		return propose(ctx, current)
	}, &shown
}

func (e *env) wantShown(shown *[]string, want ...string) {
	e.Helper()
	if diff := cmp.Diff(want, *shown); diff != "" {
		e.Errorf("states passed to the proposer (-want +got):\n%s", diff)
	}
}

// mark proposes to append to the value, so that the base of the proposal stays visible.
func mark(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
	return change(func(obj Object) { setValue(obj, valueOf(obj)+"+mark") })(ctx, current)
}

func raceLost(e *env) {
	e.create(e.object("a", "1"))
	propose, shown := e.raced(func() { e.set("a", "2") }, mark)
	result := e.update("a", propose, storage.UpdateOptions{})
	e.wantShown(shown, "1", "2")
	e.wantOutcome(result, storage.Updated)
	e.wantStored("a", result.Entry.Revision, "2+mark")
}

func raceRecreated(e *env) {
	e.create(e.object("a", "1"))
	propose, shown := e.raced(func() {
		e.delete("a")
		e.create(e.object("a", "1"))
	}, mark)
	e.update("a", propose, storage.UpdateOptions{})
	e.wantShown(shown, "1", "1")
}

func raceVanished(e *env) {
	e.create(e.object("a", "1"))
	propose, shown := e.raced(func() { e.delete("a") }, mark)
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), propose, storage.UpdateOptions{})
	e.wantError(err, storage.ErrNotFound, "update", e.key("a"))
	e.wantShown(shown, "1")
	e.wantAbsent("a")
}

// upsert marks the current object, or proposes a new object.
func (e *env) upsert(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
	if current == nil {
		return storage.Proposal{Object: e.object("a", "new")}, nil
	}
	return mark(ctx, current)
}

func raceVanishedCreate(e *env) {
	e.create(e.object("a", "1"))
	propose, shown := e.raced(func() { e.delete("a") }, e.upsert)
	result := e.update("a", propose, storage.UpdateOptions{CreateIfAbsent: true})
	e.wantShown(shown, "1", "")
	e.wantOutcome(result, storage.Created)
	e.wantStored("a", result.Entry.Revision, "new")
}

func raceAppeared(e *env) {
	propose, shown := e.raced(func() { e.create(e.object("a", "1")) }, e.upsert)
	result := e.update("a", propose, storage.UpdateOptions{CreateIfAbsent: true})
	e.wantShown(shown, "", "1")
	e.wantOutcome(result, storage.Updated)
	e.wantStored("a", result.Entry.Revision, "1+mark")
}

func raceCreators(e *env) {
	const writers = 12
	var mu sync.Mutex
	outcomes := map[storage.Outcome]int{}
	count := func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		if current == nil {
			return storage.Proposal{Object: e.object("a", "1")}, nil
		}
		return increment(ctx, current)
	}
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			result, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), count, storage.UpdateOptions{CreateIfAbsent: true})
			if err != nil {
				e.Errorf("GuaranteedUpdate: %v", err)
				return
			}
			mu.Lock()
			outcomes[result.Outcome]++
			mu.Unlock()
		})
	}
	writing.Wait()
	want := map[storage.Outcome]int{storage.Created: 1, storage.Updated: writers - 1}
	if diff := cmp.Diff(want, outcomes); diff != "" {
		e.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if got := valueOf(e.open(e.get("a"))); got != strconv.Itoa(writers) {
		e.Errorf("the counter ends at %s, want %d", got, writers)
	}
}

func raceDeletion(e *env) {
	e.create(e.object("a", "1"))
	propose, shown := e.raced(func() { e.set("a", "2") }, remove)
	result := e.update("a", propose, storage.UpdateOptions{})
	e.wantShown(shown, "1", "2")
	e.wantOutcome(result, storage.Deleted)
	e.wantEntry(result.Entry, "a", e.revision(), "2")
	e.wantAbsent("a")
}

func racePreconditions(e *env) {
	created := e.create(e.object("a", "1"))
	var between *storage.Entry
	propose, shown := e.raced(func() { between = e.set("a", "2") }, mark)
	_, err := e.Store.GuaranteedUpdate(e.Context(), e.key("a"), propose,
		storage.UpdateOptions{Preconditions: ifVersion(version(created.Revision))})
	e.wantError(err, storage.ErrPrecondition, "update", e.key("a"))
	e.wantShown(shown, "1")
	e.wantStored("a", between.Revision, "2")
}

func raceNoOp(e *env) {
	e.create(e.object("a", "1"))
	var between *storage.Entry
	propose, shown := e.raced(func() { between = e.set("a", "2") },
		change(func(obj Object) { setValue(obj, "2") }))
	result := e.update("a", propose, storage.UpdateOptions{})
	e.wantShown(shown, "1", "2")
	e.wantOutcome(result, storage.Unchanged)
	e.wantStored("a", between.Revision, "2")
}
