package kind

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/miniapi/miniapi/kinds/feature"
)

// gateBits is a set of disabled gates: a bit for each.
type gateBits uint64

// fieldTree is the part of a Go type that leads to the fields of disabled gates, so that one walk
// over an object finds all of them. A node is a field of a struct; the root is the object.
type fieldTree struct {
	name     string
	index    []int
	gates    gateBits // of the field itself
	optional bool     // removed together with its last field
	children []*fieldTree
}

// newFieldTree returns nil if no gate is disabled. It panics if a path is not in the type.
func newFieldTree(t reflect.Type, list []GatedField, features *feature.Set) *fieldTree {
	root := &fieldTree{}
	var gates []feature.Gate
	for _, f := range list {
		if features.Enabled(f.Gate) {
			continue
		}
		bit := slices.Index(gates, f.Gate)
		if bit < 0 {
			bit = len(gates)
			gates = append(gates, f.Gate)
		}
		for _, path := range f.Paths {
			root.add(t, strings.Split(path, "."), 1<<bit)
		}
	}
	switch {
	case len(gates) == 0:
		return nil
	case len(gates) > 64:
		panic("kind: more than 64 disabled gates of one type")
	}
	return root
}

func (n *fieldTree) add(t reflect.Type, path []string, gates gateBits) {
	if len(path) == 0 {
		n.gates |= gates
		return
	}
	for name := range strings.SplitSeq(path[0], "|") {
		name, optional := strings.CutSuffix(name, "?")
		field := fieldByName(t, name)
		child := n.child(name, field.Index)
		child.optional = child.optional || optional
		child.add(field.Type, path[1:], gates)
	}
}

func (n *fieldTree) child(name string, index []int) *fieldTree {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	c := &fieldTree{name: name, index: index}
	n.children = append(n.children, c)
	return c
}

// fieldByName returns the field with a JSON name of a struct, or of the struct that t leads to.
func fieldByName(t reflect.Type, name string) reflect.StructField {
	for t.Kind() != reflect.Struct {
		t = t.Elem()
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f
		}
	}
	panic(fmt.Sprintf("kind: %s has no field %s", t, name))
}

// used returns the gates of the fields that v has.
func (n *fieldTree) used(v reflect.Value) (bits gateBits) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			bits = n.used(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			bits |= n.used(v.Index(i))
		}
	case reflect.Map:
		for items := v.MapRange(); items.Next(); {
			bits |= n.used(items.Value())
		}
	case reflect.Struct:
		for _, c := range n.children {
			f := v.FieldByIndex(c.index)
			if c.gates != 0 && !isEmpty(f) {
				bits |= c.gates
			}
			if len(c.children) > 0 {
				bits |= c.used(f)
			}
		}
	}
	return bits
}

// drop removes the fields of gates from v and reports whether there were any. It writes only to
// structs that have such a field, because the others may be shared.
func (n *fieldTree) drop(v reflect.Value, gates gateBits) (dropped bool) {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && n.drop(v.Elem(), gates)
	case reflect.Slice:
		for i := range v.Len() {
			dropped = n.drop(v.Index(i), gates) || dropped
		}
	case reflect.Map:
		for items := v.MapRange(); items.Next(); {
			item := reflect.New(v.Type().Elem()).Elem()
			item.Set(items.Value())
			if n.drop(item, gates) {
				v.SetMapIndex(items.Key(), item)
				dropped = true
			}
		}
	case reflect.Struct:
		for _, c := range n.children {
			dropped = c.dropField(v.FieldByIndex(c.index), gates) || dropped
		}
	}
	return dropped
}

func (n *fieldTree) dropField(f reflect.Value, gates gateBits) (dropped bool) {
	if n.gates&gates != 0 && !f.IsZero() {
		f.SetZero()
		return true
	}
	if len(n.children) == 0 || !n.drop(f, gates) {
		return false
	}
	if n.optional && f.Elem().IsZero() {
		f.SetZero()
	}
	return true
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}
