package kind

import (
	"reflect"

	"github.com/miniapi/miniapi/kinds/feature"
)

// GatedField is a field that writes lose while its gate is disabled, unless the stored object has
// it.
type GatedField[T Object] struct {
	Gate feature.Gate
	// Used reports whether an object has the field.
	Used func(obj T) bool
	// Drop removes the field. It is called for objects that have it.
	Drop func(obj T)
}

// Gated returns the GatedField at one place of an object. field returns nil if the object does not
// have the place.
func Gated[T Object, F any](gate feature.Gate, field func(obj T) *F) GatedField[T] {
	return GatedField[T]{
		Gate: gate,
		Used: func(obj T) bool {
			f := field(obj)
			return f != nil && !isEmpty(reflect.ValueOf(f).Elem())
		},
		Drop: func(obj T) { *field(obj) = *new(F) },
	}
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

// disabled returns the fields whose gates are disabled.
func disabled[T Object](fields []GatedField[T], features *feature.Set) []GatedField[T] {
	var list []GatedField[T]
	for _, f := range fields {
		if !features.Enabled(f.Gate) {
			list = append(list, f)
		}
	}
	return list
}

// dropDisabled drops the disabled fields of a new object.
func (b *builder[T]) dropDisabled(obj T) {
	for _, f := range b.disabled {
		if f.Used(obj) {
			f.Drop(obj)
		}
	}
}

// dropNewlyUsed drops the disabled fields that old does not have.
func (b *builder[T]) dropNewlyUsed(obj, old T) {
	for _, f := range b.disabled {
		if f.Used(obj) && !f.Used(old) {
			f.Drop(obj)
		}
	}
}

// isServed reports whether a release serves a kind: it has the API of the kind's type, and the gate
// of the kind is enabled.
func (d *Definition[T]) isServed(features *feature.Set) bool {
	return features.Enabled(d.Gate) && introduced(d.Object) <= features.Release()
}

// introduced returns the release that the published API states for a type.
func introduced(obj any) feature.Release {
	if api, ok := obj.(interface {
		APILifecycleIntroduced() (major, minor int)
	}); ok {
		_, minor := api.APILifecycleIntroduced()
		return feature.Release(minor)
	}
	return 0
}
