package fieldtree

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
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

// JSON returns a JSON document that has only the fields of the tree in obj, an object of the type
// that the tree was made for. As in the document of the whole object, empty fields may be left out.
func (t *Tree) JSON(obj runtime.Object) ([]byte, error) { return t.appendJSON(nil, structOf(obj)) }

// Set sets the fields of the tree in obj from a document, which may lack fields that are left out
// if they are empty. It returns false if the document does not fit: if a value has another type or
// unknown fields, a struct is missing, or a list has other items. The object is then incomplete.
func (t *Tree) Set(obj runtime.Object, document []byte) bool { return t.set(structOf(obj), document) }

func (t *Tree) appendJSON(document []byte, v reflect.Value) ([]byte, error) {
	document = append(document, '{')
	first := true
	for name, b := range t.fields {
		value := b.in(v)
		if b.isWhole() && b.omits(value) {
			continue
		}
		if !first {
			document = append(document, ',')
		}
		first = false
		document = append(append(append(document, '"'), name...), '"', ':')
		var err error
		if document, err = b.appendJSON(document, value); err != nil {
			return nil, err
		}
	}
	return append(document, '}'), nil
}

func (b branch) appendJSON(document []byte, value reflect.Value) ([]byte, error) {
	switch {
	case b.items != nil:
		return b.items.appendJSON(document, value)
	case b.tree != nil:
		return b.tree.appendJSON(document, reflect.Indirect(value))
	}
	data, err := json.Marshal(value.Addr().Interface())
	return append(document, data...), err
}

func (t *Tree) set(v reflect.Value, document []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil || members == nil {
		return false
	}
	for name, b := range t.fields {
		if member, present := members[name]; !b.set(b.in(v), member, present) {
			return false
		}
	}
	return true
}

func (b branch) set(value reflect.Value, document []byte, present bool) bool {
	switch {
	case b.items != nil:
		return present && b.items.set(value, document)
	case b.tree != nil:
		return present && b.tree.set(reflect.Indirect(value), document)
	}
	decoded := reflect.New(value.Type())
	if present {
		if strictErrs, err := kjson.UnmarshalStrict(document, decoded.Interface()); err != nil || len(strictErrs) > 0 {
			return false
		}
	}
	value.Set(decoded.Elem())
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
	if v.Kind() != reflect.Pointer || l.isOpaque(v.Type()) {
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
