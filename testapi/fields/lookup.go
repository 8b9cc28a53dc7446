// Package fields reads single fields of objects. A path names items of lists by their keys, as in
// server-side apply.
package fields

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Lookup returns the value at a path of the fields of an object, nil for no object. It is false if
// the field is absent or null.
func Lookup(content value.Value, path fieldpath.Path) (any, bool) {
	for _, element := range path {
		if content = step(content, element); content == nil {
			return nil, false
		}
	}
	if content == nil || content.IsNull() {
		return nil, false
	}
	return content.Unstructured(), true
}

// step returns the child of content that an element of a path names, nil if there is none.
func step(content value.Value, element fieldpath.PathElement) value.Value {
	if element.FieldName != nil {
		return field(content, *element.FieldName)
	}
	if content == nil || !content.IsList() {
		return nil
	}
	items := content.AsList()
	for i := range items.Length() {
		if item := items.At(i); isNamed(item, i, element) {
			return item
		}
	}
	return nil
}

// field returns the field of a map, nil if there is none.
func field(content value.Value, name string) value.Value {
	if content == nil || !content.IsMap() {
		return nil
	}
	child, _ := content.AsMap().Get(name)
	return child
}

// isNamed reports whether an element of a path names an item of a list.
func isNamed(item value.Value, index int, element fieldpath.PathElement) bool {
	switch {
	case element.Index != nil:
		return *element.Index == index
	case element.Key != nil:
		return !slices.ContainsFunc(*element.Key, func(key value.Field) bool {
			child := field(item, key.Name)
			return child == nil || !value.Equals(child, key.Value)
		})
	default:
		return element.Value != nil && value.Equals(item, *element.Value)
	}
}
