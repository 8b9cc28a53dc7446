package storage

import (
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
	if p.Label != nil && !p.Label.Matches(labelSet) {
		return false, nil
	}
	return p.Field == nil || p.Field.Matches(fieldSet), nil
}

// MatchesEntry tells whether the object of an entry is selected. An empty
// predicate does not decode it.
func (p Predicate) MatchesEntry(e *Entry) (bool, error) {
	if p.Empty() {
		return true, nil
	}
	obj, err := e.Object()
	if err != nil {
		return false, err
	}
	return p.Matches(obj)
}
