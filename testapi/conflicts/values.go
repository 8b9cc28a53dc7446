package conflicts

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/miniapi/miniapi/storage"
)

const (
	// maxFields limits the fields of a conflict that are kept, maxValue the bytes of their values.
	maxFields = 32
	maxValue  = 256
	// hidden stands for the values of Secrets.
	hidden = "(hidden)"
)

// values returns the changed fields with their values, the clashing ones first.
func (a *analysis) values() []Field {
	fields := []Field{}
	base, theirs, ours := a.content(a.base), a.content(a.Current), any(nil)
	if a.submitted != nil {
		ours, _ = a.Store.Content(a.Version, a.submitted) // nil: no values
	}
	others := a.ours.Union(a.theirs).Difference(a.clashing)
	for _, set := range []*fieldpath.Set{a.clashing, others} {
		for path := range set.All() {
			if len(fields) == maxFields {
				return fields
			}
			path = path.Copy() // All reuses the path
			fields = append(fields, Field{
				Path: path.String(), Clash: set == a.clashing,
				Base: a.text(base, path), Theirs: a.text(theirs, path), Ours: a.text(ours, path),
			})
		}
	}
	return fields
}

// content returns the fields of a state, nil if they are not known.
func (a *analysis) content(state *storage.Entry) any {
	if state == nil {
		return nil
	}
	obj, err := state.Object()
	if err != nil {
		return nil
	}
	content, _ := a.Store.Content(a.Version, obj) // nil: no values
	return content
}

// text returns the value at a path as JSON, "" if it is absent.
func (a *analysis) text(content any, path fieldpath.Path) string {
	found, ok := lookup(content, path)
	if !ok {
		return ""
	}
	if a.Store.Resource().GroupResource() == (schema.GroupResource{Resource: "secrets"}) {
		return hidden
	}
	data, err := json.Marshal(found)
	if err != nil {
		return ""
	}
	if text := string(data); len(text) <= maxValue {
		return text
	}
	end := maxValue
	for !utf8.RuneStart(data[end]) {
		end--
	}
	return string(data[:end]) + "..."
}

// lookup returns the value at a path.
func lookup(content any, path fieldpath.Path) (any, bool) {
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

func decimal(n int) string { return strconv.Itoa(n) }
