package fieldsv1

import (
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// key is a key of the items of a list.
type key struct {
	name string
	// value is the key's default.
	value any
	// field is the field of a struct.
	field *field
}

// buildList sets the keys and items of a list.
func (n *node) buildList(s *schema.Schema) {
	n.kind = unsupported
	if n.atom.List.ElementRelationship != schema.Associative {
		return
	}
	n.item = newItem(s, n.atom.List.ElementType, n.goType.Elem())
	if len(n.atom.List.Keys) == 0 {
		if isKey(n.goType.Elem()) {
			n.kind = list
		}
		return
	}
	if n.goType.Elem().Kind() != reflect.Struct || !n.addKeys(s) {
		return
	}
	// The items may be atomic, and then their own plan has no fields.
	item := &node{named: map[string]*field{}}
	item.atom, _ = s.Resolve(n.atom.List.ElementType)
	item.addFields(s, n.goType.Elem(), nil)
	for i, k := range n.keys {
		f := item.named[k.name]
		if f == nil || !isKey(f.goType) {
			return
		}
		n.keys[i].field = f
	}
	n.kind = list
}

// addKeys sets the keys of a list. It reports whether they are valid.
func (n *node) addKeys(s *schema.Schema) bool {
	item, ok := s.Resolve(n.atom.List.ElementType)
	if !ok || item.Map == nil {
		return false
	}
	for _, name := range n.atom.List.Keys {
		f, _ := item.Map.FindField(name)
		n.keys = append(n.keys, key{name: name, value: f.Default})
	}
	slices.SortFunc(n.keys, func(a, b key) int { return strings.Compare(a.name, b.name) })
	for _, k := range n.keys {
		n.keyNames = append(n.keyNames, k.name)
	}
	return true
}

// isKey reports whether values of a type can be keys.
func isKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return true
	}
	return false
}
