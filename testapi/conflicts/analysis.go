package conflicts

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/journal"
)

const (
	// maxSteps limits the states that are read from the history for one conflict.
	maxSteps = 64
	// maxCompared limits the writes whose changed fields are computed, the latest ones.
	maxCompared = 8
)

// analysis is the part of the history and of the journal that explains a conflict.
type analysis struct {
	*registry.Conflict
	// base is the state that the write is based on, nil if it cannot be read.
	base *storage.Entry
	// writes are the writes between base and the stored object, the oldest first.
	writes []intervening
	// truncated is set if there are more writes than maxSteps, earlier than writes.
	truncated bool
	// compacted is set if the base is compacted, foreign if it is newer than the stored object,
	// early if it is older than the object.
	compacted, foreign, early bool
	// submitted is the object that the write would have stored over base, nil if it is not known.
	submitted runtime.Object
	// ours are the fields that the rejected write changes, theirs the fields that changed since
	// the base, clashing the fields in both.
	ours, theirs, clashing *fieldpath.Set
}

// intervening is a write that came first.
type intervening struct {
	revision int64
	write    *journal.Write // nil: not in the journal
	// fields are the changed fields, nil if they are not known.
	fields *fieldpath.Set
}

// analyze explains a conflict as far as the history and the journal reach.
func analyze(ctx context.Context, c *registry.Conflict, j *journal.Journal) *analysis {
	a := &analysis{Conflict: c, ours: &fieldpath.Set{}, theirs: &fieldpath.Set{}, clashing: &fieldpath.Set{}}
	j.Await(ctx, c.Key, c.Current.Revision)
	if a.foreign = c.Base > c.Current.Revision; a.foreign {
		return a
	}
	states := a.walk(ctx)
	if a.Replaced {
		a.writes = sinceDeletion(j.Writes(c.Key), c.Current.Revision)
		return a
	}
	a.nameWriters(states, j)
	if a.base != nil {
		a.compare(ctx)
	}
	return a
}

// walk reads the states from the stored one back to the base, newest first, and sets base.
func (a *analysis) walk(ctx context.Context) []*storage.Entry {
	states := []*storage.Entry{a.Current}
	if a.Base == 0 {
		return states
	}
	for len(states) <= maxSteps {
		last := states[len(states)-1]
		if last.Revision <= a.Base {
			a.base = last
			return states
		}
		entry, err := a.Store.GetAt(ctx, a.Namespace, a.Name, last.Revision-1)
		switch {
		case apierrors.IsNotFound(err):
			_, err := a.Store.GetAt(ctx, a.Namespace, a.Name, a.Base)
			a.early = apierrors.IsNotFound(err)
			a.Replaced = !a.early
			return states
		case err != nil:
			a.compacted = apierrors.IsResourceExpired(err)
			return states
		}
		states = append(states, entry)
	}
	a.truncated = true
	a.base, _ = a.Store.GetAt(ctx, a.Namespace, a.Name, a.Base) // nil: not readable
	return states
}

// nameWriters sets the writes that made the states.
func (a *analysis) nameWriters(states []*storage.Entry, j *journal.Journal) {
	var revisions []int64
	for _, state := range states {
		if state.Revision > a.Base {
			revisions = append(revisions, state.Revision)
		}
	}
	known := j.At(a.Key, revisions)
	for i, state := range states {
		if state.Revision <= a.Base {
			break
		}
		w := intervening{revision: state.Revision, write: writeAt(known, state.Revision)}
		if i < maxCompared && i+1 < len(states) {
			w.fields, _ = a.changed(states[i+1], state) // nil: not known
		}
		a.writes = append(a.writes, w)
	}
	slices.Reverse(a.writes)
}

// compare sets the fields that both sides changed.
func (a *analysis) compare(ctx context.Context) {
	theirs, err := a.changed(a.base, a.Current)
	if err != nil {
		return
	}
	a.theirs = theirs
	if a.Submit == nil {
		return
	}
	base, err := a.base.Object()
	if err != nil {
		return
	}
	submitted, err := a.Submit(ctx, base)
	if err != nil {
		return
	}
	ours, err := a.Store.ChangedFields(a.Version, base, submitted)
	if err != nil {
		return
	}
	a.submitted = submitted
	a.ours = a.Store.Writable(a.Version, a.Subresource, ours)
	a.clashing = a.ours.Intersection(theirs)
}

// changed returns the fields in which two states differ.
func (a *analysis) changed(from, to *storage.Entry) (*fieldpath.Set, error) {
	objects := make([]runtime.Object, 2)
	var errs [2]error
	objects[0], errs[0] = from.Object()
	objects[1], errs[1] = to.Object()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return a.Store.ChangedFields(a.Version, objects[0], objects[1])
}

// winner returns the latest write that changed a clashing field, else the latest one, and nil if
// there is none.
func (a *analysis) winner() *intervening {
	for i := range slices.Backward(a.writes) {
		if fields := a.writes[i].fields; fields != nil && !fields.Intersection(a.clashing).Empty() {
			return &a.writes[i]
		}
	}
	if len(a.writes) == 0 {
		return nil
	}
	return &a.writes[len(a.writes)-1]
}

func writeAt(writes []*journal.Write, revision int64) *journal.Write {
	i := slices.IndexFunc(writes, func(w *journal.Write) bool { return w.Revision == revision })
	if i < 0 {
		return nil
	}
	return writes[i]
}

// sinceDeletion returns the writes from the last deletion before a revision up to the revision.
func sinceDeletion(writes []*journal.Write, revision int64) []intervening {
	var found []intervening
	for _, w := range slices.Backward(writes) {
		if w.Revision > revision {
			continue
		}
		found = append(found, intervening{revision: w.Revision, write: w})
		if w.Outcome == storage.Deleted {
			break
		}
	}
	slices.Reverse(found)
	return found
}

// timeOf returns the time of a write, zero if it is not known.
func (w intervening) timeOf() time.Time {
	if w.write == nil {
		return time.Time{}
	}
	return w.write.Time
}
