package fieldsv1

import (
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// buildUnstructured sets the fields, items and keys of a node without a Go type.
func (n *node) buildUnstructured(s *schema.Schema) {
	if m := n.atom.Map; m != nil {
		n.named = map[string]*field{}
		for i := range m.Fields {
			n.named[m.Fields[i].Name] = newItem(s, m.Fields[i].Type, nil)
		}
		if m.ElementType != (schema.TypeRef{}) {
			n.other = newItem(s, m.ElementType, nil)
		}
	}
	if l := n.atom.List; l != nil {
		n.item = newItem(s, l.ElementType, nil)
		if len(l.Keys) > 0 && !n.addKeys(s) {
			return
		}
		if l.ElementRelationship != schema.Associative && l.ElementRelationship != schema.Atomic {
			return
		}
	}
	n.kind = anything
}

// field returns the plan of a field of a map, and nil for an unknown field.
func (n *node) field(name string) *node {
	if f, ok := n.named[name]; ok {
		return f.node()
	}
	if n.other != nil && n.kind != object {
		return n.other.node()
	}
	return nil
}

// form is a form of an unstructured value.
type form uint8

const (
	null form = iota
	scalarForm
	mapForm
	listForm
	invalid
)

func formOf(v any) form {
	switch v.(type) {
	case nil:
		return null
	case string, bool, int64, float64:
		return scalarForm
	case map[string]any:
		return mapForm
	case []any:
		return listForm
	}
	return invalid
}

// only returns the form of the type, if it has one form only.
func (n *node) only() (form, bool) {
	switch a := n.atom; {
	case a.Map != nil:
		return mapForm, a.Scalar == nil && a.List == nil
	case a.Scalar != nil:
		return scalarForm, a.List == nil
	}
	return listForm, n.atom.List != nil
}

// isValid reports whether a value matches its type, at all depths.
func (n *node) isValid(v any) bool {
	if n == nil || n.kind != anything {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		if n.atom.Map == nil {
			return false
		}
		for name, inner := range v {
			if !n.field(name).isValid(inner) {
				return false
			}
		}
		return true
	case []any:
		if n.atom.List == nil {
			return false
		}
		item := n.item.node()
		return !slices.ContainsFunc(v, func(inner any) bool { return !item.isValid(inner) || !n.hasKeys(inner) })
	}
	return n.acceptsScalar(v)
}

func (n *node) acceptsScalar(v any) bool {
	if n.atom.Scalar == nil {
		return false
	}
	switch v.(type) {
	case string:
		return *n.atom.Scalar == schema.String || *n.atom.Scalar == schema.Untyped
	case bool:
		return *n.atom.Scalar == schema.Boolean || *n.atom.Scalar == schema.Untyped
	case int64, float64:
		return *n.atom.Scalar == schema.Numeric || *n.atom.Scalar == schema.Untyped
	}
	return false
}

// hasKeys reports whether an item of a list has all keys.
func (n *node) hasKeys(v any) bool {
	if n.atom.List.ElementRelationship != schema.Associative {
		return true
	}
	_, ok := (&walk{}).anyElement(n, v)
	return ok
}

// anyElement returns the path element of an item, and false for an item without a key.
func (w *walk) anyElement(n *node, v any) (element, bool) {
	base := len(w.scalars)
	if len(n.keys) == 0 {
		s, ok := scalarOfAny(v)
		w.scalars = append(w.scalars, s)
		return element{kind: valueElement, values: w.scalars[base:]}, ok
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return element{}, false
	}
	for _, k := range n.keys {
		known, ok := fields[k.name]
		if !ok {
			known = k.value
		}
		s, ok := scalarOfAny(known)
		if !ok {
			return element{}, false
		}
		w.scalars = append(w.scalars, s)
	}
	return element{kind: keyElement, keys: n.keyNames, values: w.scalars[base:]}, true
}

// contents compares two unstructured objects.
func (w *walk) contents(p *Plan, before, after map[string]any) {
	if !p.isValid(before) || !p.isValid(after) {
		w.failed = true
		return
	}
	w.maps(p.root, p.scope, before, after)
}

// isValid reports whether the fields of an object match their types.
func (p *Plan) isValid(content map[string]any) bool {
	for name, v := range content {
		if !p.scope.field(name).ignores() && !p.root.field(name).isValid(v) {
			return false
		}
	}
	return true
}

// optional is an unstructured value, or no value.
type optional struct {
	value any
	ok    bool
}

// compareAny adds the changes of an unstructured value, which must be valid.
func (w *walk) compareAny(n *node, e element, s *scope, before, after optional) {
	form, ok := n.formOf(before, after)
	if !ok {
		w.failed = true
		return
	}
	l, r := before.value, after.value
	f := present(before.ok, after.ok)
	var empty, atomic bool
	switch form {
	case mapForm:
		lm, _ := l.(map[string]any)
		rm, _ := r.(map[string]any)
		empty, atomic = len(lm) == 0 && len(rm) == 0, n.atom.Map.ElementRelationship == schema.Atomic
	case listForm:
		ll, _ := l.([]any)
		rl, _ := r.([]any)
		empty, atomic = len(ll) == 0 && len(rl) == 0, n.atom.List.ElementRelationship == schema.Atomic
	}
	if form == scalarForm || empty || atomic {
		if f == 0 && !equalAny(l, r) {
			f = modified
		}
		w.leaf(e, f, s)
		return
	}
	index := w.open(e)
	if form == mapForm {
		lm, _ := l.(map[string]any)
		rm, _ := r.(map[string]any)
		w.maps(n, s, lm, rm)
	} else {
		ll, _ := l.([]any)
		rl, _ := r.([]any)
		w.lists(n, s, ll, rl)
	}
	w.close(index, f, s)
}

// formOf returns the form in which two values are compared. Two values in different forms are not
// supported.
func (n *node) formOf(before, after optional) (form, bool) {
	if only, ok := n.only(); ok {
		return only, true
	}
	l, r := formOf(before.value), formOf(after.value)
	if !before.ok || !after.ok {
		l = max(l, r) // null, the form of no value, is the smallest
		r = l
	}
	if l == null && r == null {
		l, _ = n.only() // the first form of the type
		return l, true
	}
	return l, l == r
}

// maps compares the fields of two maps.
func (w *walk) maps(n *node, s *scope, before, after map[string]any) {
	base := len(w.strings)
	w.strings = slices.AppendSeq(w.strings, maps.Keys(before))
	w.strings = slices.AppendSeq(w.strings, maps.Keys(after))
	names := w.sorted(base)
	w.strings = w.strings[:base+len(names)]
	for _, name := range names {
		inner := s.field(name)
		if inner.ignores() {
			continue
		}
		l, inBefore := before[name]
		r, inAfter := after[name]
		w.compareAny(n.field(name), fieldOf(name), inner, optional{l, inBefore}, optional{r, inAfter})
	}
	w.strings = w.strings[:base]
}

// lists compares the items of two lists.
func (w *walk) lists(n *node, s *scope, before, after []any) {
	base := len(w.items)
	for side, list := range [][]any{before, after} {
		for i, v := range list {
			e, ok := w.anyElement(n, v)
			if !ok {
				w.failed = true
				return
			}
			w.items = append(w.items, item{e, i, side == 1})
		}
	}
	w.pairs(base, func(e element, l, r int) {
		w.compareAny(n.item.node(), e, s, itemOf(before, l), itemOf(after, r))
	})
	w.items = w.items[:base]
}

func itemOf(list []any, i int) optional {
	if i < 0 {
		return optional{}
	}
	return optional{list[i], true}
}

// equalAny compares two unstructured values. Numbers of different types may be equal.
func equalAny(before, after any) bool {
	switch l := before.(type) {
	case string:
		r, ok := after.(string)
		return ok && l == r
	case bool:
		r, ok := after.(bool)
		return ok && l == r
	case nil:
		return after == nil
	}
	return value.Equals(value.NewValueInterface(before), value.NewValueInterface(after))
}
