package storage

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// attributes are what an entry can be selected by. They stay with the entry, so
// that selecting it again needs no object.
type attributes struct {
	labels labels.Set
	fields fields.Set
}

// Attributes returns what of makes of the object, which must not be written to.
// It is asked once: whoever asks has to come with the same function. It waits no longer than ctx.
func (e *Entry) Attributes(ctx context.Context, of AttrFunc) (labels.Set, fields.Set, error) {
	if a := e.attrs.Load(); a != nil {
		return a.labels, a.fields, nil
	}
	look := e.peek
	if e.decoder.Memo == nil { // the entry is one reader's, who may want the object too
		look = e.ObjectContext
	}
	obj, err := look(ctx)
	if err != nil {
		return nil, nil, err
	}
	a := &attributes{}
	if a.labels, a.fields, err = of(obj); err != nil {
		return nil, nil, err
	}
	e.attrs.Store(a)
	return a.labels, a.fields, nil
}
