package storage

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// attributes are the labels and fields that selectors match. An entry keeps them, so that a later
// match does not need its object.
type attributes struct {
	labels labels.Set
	fields fields.Set
}

// Attributes returns the result of attrs for the object of the entry, which must not be modified.
// It calls attrs once and keeps the result, so all calls must pass the same function. If decoding
// waits for another process, Attributes waits until ctx ends at most.
func (e *Entry) Attributes(ctx context.Context, attrs AttrFunc) (labels.Set, fields.Set, error) {
	if a := e.attrs.Load(); a != nil {
		return a.labels, a.fields, nil
	}
	object := e.peek
	if e.decoder.Memo == nil { // the one reader of the entry may use the object next
		object = e.ObjectContext
	}
	obj, err := object(ctx)
	if err != nil {
		return nil, nil, err
	}
	a := &attributes{}
	if a.labels, a.fields, err = attrs(obj); err != nil {
		return nil, nil, err
	}
	e.attrs.Store(a)
	return a.labels, a.fields, nil
}
