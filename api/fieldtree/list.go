package fieldtree

import (
	"encoding/json"
	"reflect"
)

// items are the touched fields of the items of a list that a strategic merge patch merges by a key.
// The document has all items, so that the patch finds each of them and their order.
type items struct {
	key     field
	trees   []*Tree        // by index, with the key at least
	indexes map[string]int // by key
}

// appendJSON appends the items with their touched fields.
func (t *items) appendJSON(document []byte, list reflect.Value) ([]byte, error) {
	document = append(document, '[')
	for i, tree := range t.trees {
		if i > 0 {
			document = append(document, ',')
		}
		var err error
		if document, err = tree.appendJSON(document, list.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(document, ']'), nil
}

// set sets the touched fields of all items from a document. It returns false if the document has
// other items, or has them in another order.
func (t *items) set(list reflect.Value, document []byte) bool {
	var documents []json.RawMessage
	if json.Unmarshal(document, &documents) != nil || len(documents) != len(t.trees) {
		return false
	}
	for i, tree := range t.trees {
		item := list.Index(i)
		key := t.key.in(item).String()
		if !tree.set(item, documents[i]) || t.key.in(item).String() != key {
			return false
		}
	}
	return true
}

// list adds a list that a strategic merge patch merges. It is touched as a whole, unless the patch
// only changes fields of existing items. It returns false for an unknown field.
func (b builder) list(name string, changes []any) bool {
	touched := b.items(name)
	if touched == nil {
		return b.whole(name)
	}
	list := b.tree.fields[name].in(b.value)
	for _, change := range changes {
		members, _ := change.(map[string]any)
		key, _ := members[b.tree.fields[name].mergeKey].(string)
		i, exists := touched.indexes[key]
		if !exists || hasDirective(members) {
			return b.whole(name)
		}
		within := builder{b.layouts, touched.trees[i], list.Index(i)}
		if !within.strategicMerge(members) {
			return false
		}
	}
	return true
}

// items adds the items of a list with their keys. It returns nil if the field is touched as a
// whole, if it is not a list that is merged by strings, or if its keys are not unique.
func (b builder) items(name string) *items {
	if known, added := b.tree.fields[name]; added {
		return known.items
	}
	f := b.layouts.of(b.value.Type())[name]
	if f.mergeKey == "" {
		return nil
	}
	list := f.in(b.value)
	key, ok := b.layouts.of(list.Type().Elem())[f.mergeKey]
	if !ok || list.Len() == 0 || key.in(list.Index(0)).Kind() != reflect.String {
		return nil
	}
	added := &items{key: key, indexes: map[string]int{}}
	for i := range list.Len() {
		value := key.in(list.Index(i)).String()
		if _, duplicate := added.indexes[value]; duplicate || value == "" {
			return nil
		}
		added.indexes[value] = i
		added.trees = append(added.trees, &Tree{fields: map[string]branch{f.mergeKey: {field: key}}})
	}
	b.tree.fields[name] = branch{field: f, items: added}
	return added
}
