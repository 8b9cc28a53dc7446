package storage

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// AttrFunc returns the labels and the selectable fields of an object.
type AttrFunc func(obj runtime.Object) (labels.Set, fields.Set, error)

// Predicate selects objects. The zero value matches everything.
type Predicate struct {
	Label labels.Selector
	Field fields.Selector
	// Attrs is required unless the predicate is empty.
	Attrs AttrFunc
	// IncludeCorrupt makes MatchesEntry report no error for an object that cannot be decoded. It
	// matches if the predicate is empty.
	IncludeCorrupt bool
}

// Empty reports whether the predicate matches every object.
func (p Predicate) Empty() bool {
	return (p.Label == nil || p.Label.Empty()) && (p.Field == nil || p.Field.Empty())
}

// Matches reports whether the predicate matches obj.
func (p Predicate) Matches(obj runtime.Object) (bool, error) {
	if p.Empty() {
		return true, nil
	}
	labelSet, fieldSet, err := p.Attrs(obj)
	if err != nil {
		return false, err
	}
	return p.selects(labelSet, fieldSet), nil
}

// MatchesEntry reports whether the predicate matches the object of an entry. It does not decode an
// entry that was matched before, and with an empty predicate no entry until the decoder has met a
// corrupt object. All predicates that match an entry must have the same Attrs. If decoding waits
// for another process, MatchesEntry waits until ctx ends at most.
func (p Predicate) MatchesEntry(ctx context.Context, e *Entry) (bool, error) {
	if p.Empty() {
		if p.IncludeCorrupt {
			return true, nil
		}
		err := e.Verify(ctx)
		return err == nil, err
	}
	labelSet, fieldSet, err := e.Attributes(ctx, p.Attrs)
	if p.IncludeCorrupt && errors.Is(err, ErrCorrupt) {
		return false, nil
	}
	return err == nil && p.selects(labelSet, fieldSet), err
}

func (p Predicate) selects(labelSet labels.Set, fieldSet fields.Set) bool {
	return (p.Label == nil || p.Label.Matches(labelSet)) && (p.Field == nil || p.Field.Matches(fieldSet))
}

// EventType returns the type of the event that a watch with the predicate reports for a change of a
// key from before to after, and "" for a change that it does not report. Nil stands for an absent
// key. An object that starts to match is Added, one that stops is Deleted. If after is nil and
// before is corrupt, the error is a *CorruptDeletedError.
func (p Predicate) EventType(ctx context.Context, before, after *Entry) (watch.EventType, error) {
	matched, err := p.matchesPresent(ctx, before)
	if after == nil && errors.Is(err, ErrCorrupt) {
		return "", &CorruptDeletedError{Err: err}
	}
	if err != nil {
		return "", err
	}
	matches, err := p.matchesPresent(ctx, after)
	switch {
	case err != nil:
		return "", err
	case matches && matched:
		return watch.Modified, nil
	case matches:
		return watch.Added, nil
	case matched:
		return watch.Deleted, nil
	default:
		return "", nil
	}
}

func (p Predicate) matchesPresent(ctx context.Context, e *Entry) (bool, error) {
	if e == nil {
		return false, nil
	}
	return p.MatchesEntry(ctx, e)
}
