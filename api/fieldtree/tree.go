package fieldtree

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Tree is a set of fields of a struct.
type Tree struct {
	fields map[string]branch
}

func newTree() *Tree { return &Tree{fields: map[string]branch{}} }

// branch is a field of a Tree, touched as a whole if it has neither a tree nor items.
type branch struct {
	field
	tree  *Tree // the fields of a container
	items *items
}

func (b branch) isWhole() bool { return b.tree == nil && b.items == nil }

// Reduce sets the fields of the tree in empty, an empty object, from an object of the same type.
// They share memory. Reduce returns empty.
func (t *Tree) Reduce(empty, obj runtime.Object) runtime.Object {
	t.copy(structOf(empty), structOf(obj))
	return empty
}

// Copy sets the fields of the tree in to. It returns false if from lacks a struct that has fields
// of the tree, or has other items of a list; to is then incomplete. The objects are of one type and
// share memory afterwards.
func (t *Tree) Copy(to, from runtime.Object) bool { return t.copy(structOf(to), structOf(from)) }

func (t *Tree) copy(to, from reflect.Value) bool {
	for _, b := range t.fields {
		target, source := b.in(to), b.in(from)
		if b.isWhole() {
			target.Set(source)
			continue
		}
		if b.items != nil {
			if !b.items.copy(target, source) {
				return false
			}
			continue
		}
		if source.Kind() == reflect.Pointer {
			if source.IsNil() {
				return false
			}
			if target.IsNil() {
				target.Set(reflect.New(target.Type().Elem()))
			}
			target, source = target.Elem(), source.Elem()
		}
		if !b.tree.copy(target, source) {
			return false
		}
	}
	return true
}

func structOf(obj runtime.Object) reflect.Value { return reflect.ValueOf(obj).Elem() }

// builder adds fields to a tree, along with the object that is patched.
type builder struct {
	layouts *Layouts
	tree    *Tree
	value   reflect.Value // the struct
}

// root returns the builder of an object, and false if the object has no tree.
func (l *Layouts) root(obj runtime.Object) (builder, bool) {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || !isContainer(v.Type()) || l.isOpaque(v.Type()) {
		return builder{}, false
	}
	return builder{l, newTree(), v.Elem()}, true
}

// whole adds a field with all that is in it. It returns false for an unknown field.
func (b builder) whole(name string) bool {
	f, ok := b.layouts.of(b.value.Type())[name]
	if ok {
		b.tree.fields[name] = branch{field: f}
	}
	return ok
}

// enter adds a field of which parts are touched, and returns the builder for these. inside is false
// if the field is touched as a whole: it is no struct, it is nil, or it was added as a whole. ok
// is false for an unknown field.
func (b builder) enter(name string) (within builder, inside, ok bool) {
	f, ok := b.layouts.of(b.value.Type())[name]
	if !ok {
		return builder{}, false, false
	}
	known, added := b.tree.fields[name]
	value := f.in(b.value)
	if !f.container || added && known.isWhole() || value.Kind() == reflect.Pointer && value.IsNil() {
		b.tree.fields[name] = branch{field: f}
		return builder{}, false, true
	}
	if !added {
		known = branch{field: f, tree: newTree()}
		b.tree.fields[name] = known
	}
	return builder{b.layouts, known.tree, reflect.Indirect(value)}, true, true
}
