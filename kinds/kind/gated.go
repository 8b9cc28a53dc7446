package kind

import (
	"reflect"
	"sync"

	"github.com/miniapi/miniapi/kinds/feature"
)

// GatedField states fields that writes lose while their gate is disabled, unless the stored object
// has one of them.
type GatedField struct {
	Gate feature.Gate
	// Paths are the JSON names that lead to the fields, joined by dots. A path runs through all
	// items of lists and maps. A part of a path can have alternatives, as in a|b. A part that
	// ends with ? is removed together with its last field.
	Paths []string
}

// GatedFields returns a list of GatedFields. It is called once, by the first write.
type GatedFields func() []GatedField

// Gated returns the fields of one gate.
func Gated(gate feature.Gate, paths ...string) GatedFields {
	return func() []GatedField { return []GatedField{{Gate: gate, Paths: paths}} }
}

// And returns the fields of both lists.
func (f GatedFields) And(more GatedFields) GatedFields {
	return func() []GatedField { return append(f(), more()...) }
}

// DisabledFields drops the fields of a type whose gates are disabled. The zero value drops nothing.
type DisabledFields[T Object] struct {
	tree func() *fieldTree // nil if no gate is disabled
}

// NewDisabledFields returns the fields of list whose gates are disabled.
func NewDisabledFields[T Object](list GatedFields, features *feature.Set) DisabledFields[T] {
	if list == nil {
		return DisabledFields[T]{}
	}
	return DisabledFields[T]{tree: sync.OnceValue(func() *fieldTree {
		return newFieldTree(reflect.TypeFor[T](), list(), features)
	})}
}

// DropNew drops the fields of a new object.
func (d DisabledFields[T]) DropNew(obj T) { d.drop(obj, nil) }

// Drop drops the fields of obj that belong to gates of which old has no field.
func (d DisabledFields[T]) Drop(obj, old T) {
	d.drop(obj, func(tree *fieldTree) gateBits { return tree.used(reflect.ValueOf(old)) })
}

func (d DisabledFields[T]) drop(obj T, kept func(*fieldTree) gateBits) {
	if d.tree == nil {
		return
	}
	tree := d.tree()
	if tree == nil {
		return
	}
	v := reflect.ValueOf(obj)
	used := tree.used(v)
	if used != 0 && kept != nil {
		used &^= kept(tree)
	}
	if used != 0 {
		tree.drop(v, used)
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
