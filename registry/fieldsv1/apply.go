package fieldsv1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// Applied returns the FieldsV1 of the manager that applies a configuration, and false if it does
// not support the configuration. The plan must be of unstructured objects.
func (p *Plan) Applied(config map[string]any) (string, bool) {
	w := p.walks.Get().(*walk)
	defer func() {
		w.reset()
		p.walks.Put(w)
	}()
	if !p.isValid(config) {
		return "", false
	}
	w.appliedMap(p.root, p.scope, config)
	if w.failed {
		return "", false
	}
	fields, ok := w.merge(p.root, "{}", true)
	return string(fields), ok
}

// appliedMap adds the owned fields of a map.
func (w *walk) appliedMap(n *node, s *scope, content map[string]any) {
	base := len(w.strings)
	w.strings = slices.AppendSeq(w.strings, maps.Keys(content))
	for _, name := range w.sorted(base) {
		if inner := s.field(name); !inner.ignores() {
			_, declared := n.named[name]
			w.applied(n.field(name), fieldOf(name), inner, content[name], !declared)
		}
	}
	w.strings = w.strings[:base]
}

// appliedList adds the owned items of a list. It does not support empty items: package
// managedfields removes such an item if it is applied again.
func (w *walk) appliedList(n *node, s *scope, content []any) {
	base := len(w.items)
	for i, v := range content {
		e, ok := w.anyElement(n, v)
		if fields, isMap := v.(map[string]any); !ok || isMap && len(fields) == 0 {
			w.failed = true
			return
		}
		w.items = append(w.items, item{e, i, true})
	}
	w.pairs(base, func(e element, _, i int) {
		w.applied(n.item.node(), e, s, content[i], true)
	})
	w.items = w.items[:base]
}

// applied adds a field and the fields below it. The field itself is owned if it is an item of a
// list or map, and if it has no fields below it. An empty list is not owned.
func (w *walk) applied(n *node, e element, s *scope, v any, owned bool) {
	index := w.open(e)
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || n.atom.Map.ElementRelationship == schema.Atomic {
			owned = true
			break
		}
		w.appliedMap(n, s, v)
	case []any:
		if n.atom.List.ElementRelationship == schema.Atomic {
			owned = true
			break
		}
		w.appliedList(n, s, v)
	default:
		owned = true
	}
	var f flags
	if owned {
		f = added
	}
	w.close(index, f, s)
}

// Application is an apply by a writer.
type Application struct {
	// Live and Merged are the contents of the object before and after the apply, in the version of
	// the writer.
	Live, Merged map[string]any
	// Before are the managed fields before the apply, and Writer is the new entry of the writer.
	Before []metav1.ManagedFieldsEntry
	Writer metav1.ManagedFieldsEntry
	// Force takes the ownership of fields from other managers.
	Force bool
}

// Former returns the entry of the writer before the apply, a zero entry if it has none.
func (a *Application) Former() metav1.ManagedFieldsEntry {
	i := slices.IndexFunc(a.Before, func(e metav1.ManagedFieldsEntry) bool { return sameManager(e, a.Writer) })
	if i < 0 {
		return metav1.ManagedFieldsEntry{}
	}
	return a.Before[i]
}

// HasOthers reports whether there are other managers than the writer.
func (a *Application) HasOthers() bool {
	return slices.ContainsFunc(a.Before, func(e metav1.ManagedFieldsEntry) bool { return !sameManager(e, a.Writer) })
}

// Apply returns the managed fields of an object after an apply, and false if it does not support
// the apply or if the apply may conflict. Live and Merged are only needed if HasOthers.
func (p *Plan) Apply(a Application) ([]metav1.ManagedFieldsEntry, bool) {
	if !supported(a.Before, a.Writer) {
		return nil, false
	}
	w := p.walks.Get().(*walk)
	defer func() {
		w.reset()
		p.walks.Put(w)
	}()
	if w.contents(p, a.Live, a.Merged); w.failed {
		return nil, false
	}
	var after []metav1.ManagedFieldsEntry
	for _, entry := range a.Before {
		if sameManager(entry, a.Writer) {
			continue
		}
		owned := entry.FieldsV1.GetRawString()
		fields, ok := w.merge(p.root, owned, false)
		if !ok || !a.Force && string(fields) != owned {
			return nil, false
		}
		if string(fields) != "{}" {
			entry.FieldsV1 = newFields(fields)
			after = append(after, entry)
		}
	}
	if a.Writer.FieldsV1.GetRawString() != "{}" {
		after = append(after, a.Writer)
	}
	slices.SortFunc(after, compareEntries)
	return after, true
}
