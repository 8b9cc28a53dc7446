// Package fields reads single fields of objects. A path names items of lists by their keys, as in
// server-side apply.
package fields

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Lookup returns the value at a path of the fields of an object. It is false if the field is absent
// or null.
func Lookup(content any, path fieldpath.Path) (any, bool) {
	for _, element := range path {
		var ok bool
		if content, ok = step(content, element); !ok {
			return nil, false
		}
	}
	return content, content != nil
}

// step returns the child of content that an element of a path names.
func step(content any, element fieldpath.PathElement) (any, bool) {
	if element.FieldName != nil {
		fields, _ := content.(map[string]any)
		child, ok := fields[*element.FieldName]
		return child, ok
	}
	items, _ := content.([]any)
	switch {
	case element.Index != nil:
		if i := *element.Index; i >= 0 && i < len(items) {
			return items[i], true
		}
	case element.Key != nil:
		i := slices.IndexFunc(items, func(item any) bool { return hasKey(item, *element.Key) })
		if i >= 0 {
			return items[i], true
		}
	case element.Value != nil:
		i := slices.IndexFunc(items, func(item any) bool {
			return value.Equals(value.NewValueInterface(item), *element.Value)
		})
		if i >= 0 {
			return items[i], true
		}
	}
	return nil, false
}

// hasKey reports whether an item of a list has the fields of a key.
func hasKey(item any, key value.FieldList) bool {
	fields, _ := item.(map[string]any)
	for _, field := range key {
		child, ok := fields[field.Name]
		if !ok || !value.Equals(value.NewValueInterface(child), field.Value) {
			return false
		}
	}
	return true
}
