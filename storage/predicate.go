package storage

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// AttrFunc returns the labels of an object and the fields it can be selected by.
type AttrFunc func(obj runtime.Object) (labels.Set, fields.Set, error)

// Predicate selects objects. The zero value matches everything.
type Predicate struct {
	Label labels.Selector
	Field fields.Selector
	// Attrs is needed unless the predicate is empty.
	Attrs AttrFunc
}

// Empty tells whether everything matches.
func (p Predicate) Empty() bool {
	return (p.Label == nil || p.Label.Empty()) && (p.Field == nil || p.Field.Empty())
}

// Matches tells whether obj is selected.
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

// MatchesEntry reports whether the object of an entry is selected. An empty
// predicate does not decode it unless other objects of the resource turned out to
// be corrupt, and none decodes an entry that was matched before. All predicates
// that an entry meets must have the same Attrs. It waits no longer than ctx.
func (p Predicate) MatchesEntry(ctx context.Context, e *Entry) (bool, error) {
	if p.Empty() {
		err := e.Verify(ctx)
		return err == nil, err
	}
	labelSet, fieldSet, err := e.Attributes(ctx, p.Attrs)
	return err == nil && p.selects(labelSet, fieldSet), err
}

func (p Predicate) selects(labelSet labels.Set, fieldSet fields.Set) bool {
	return (p.Label == nil || p.Label.Matches(labelSet)) && (p.Field == nil || p.Field.Matches(fieldSet))
}
