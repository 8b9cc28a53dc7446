package conflicts

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/fields"
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
	list := []Field{}
	base, theirs, ours := a.content(a.base), a.content(a.Current), value.Value(nil)
	if a.submitted != nil {
		ours, _ = a.Store.Content(a.Version, a.submitted) // nil: no values
	}
	others := a.ours.Union(a.theirs).Difference(a.clashing)
	for _, set := range []*fieldpath.Set{a.clashing, others} {
		for path := range set.All() {
			if len(list) == maxFields {
				return list
			}
			path = path.Copy() // All reuses the path
			list = append(list, Field{
				Path: path.String(), Clash: set == a.clashing, ChangedBy: a.changedBy(path),
				Base: a.text(base, path), Theirs: a.text(theirs, path), Ours: a.text(ours, path),
			})
		}
	}
	return list
}

// changedBy returns the version that changed a field since the base.
func (a *analysis) changedBy(path fieldpath.Path) string {
	switch {
	case a.clashing.Has(path):
		return ChangedByBoth
	case a.ours.Has(path):
		return ChangedByOurs
	default:
		return ChangedByTheirs
	}
}

// content returns the fields of a state, nil if they are not known.
func (a *analysis) content(state *storage.Entry) value.Value {
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
func (a *analysis) text(content value.Value, path fieldpath.Path) string {
	found, ok := fields.Lookup(content, path)
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
	return shorten(string(data), maxValue)
}

// shorten cuts a text that has more than a number of bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}

func decimal(n int) string { return strconv.Itoa(n) }
