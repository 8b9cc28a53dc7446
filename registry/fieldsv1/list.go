package fieldsv1

import (
	"math"
	"reflect"
	"slices"
)

// item is an item of one of two lists that are compared.
type item struct {
	element element
	index   int
	after   bool
}

// list compares the items of two lists, and reports which of the lists have items.
func (w *walk) list(n *node, s *scope, before, after reflect.Value) (lAny, rAny bool) {
	base := len(w.items)
	for side, v := range [...]reflect.Value{before, after} {
		if !v.IsValid() {
			continue
		}
		for i := range v.Len() {
			e, ok := w.itemElement(n, v.Index(i))
			if !ok {
				w.failed = true
				return false, false
			}
			w.items = append(w.items, item{e, i, side == 1})
		}
	}
	lAny, rAny = before.IsValid() && before.Len() > 0, after.IsValid() && after.Len() > 0
	w.pairs(base, func(e element, l, r int) {
		w.compare(n.item.node(), e, s, indexOf(before, l), indexOf(after, r))
	})
	w.items = w.items[:base]
	return lAny, rAny
}

func indexOf(v reflect.Value, i int) reflect.Value {
	if i < 0 {
		return reflect.Value{}
	}
	return v.Index(i)
}

// pairs calls compare for each element of the items from an index, in order, with the indexes of
// its items before and after, -1 for no item. Duplicate items are not supported.
func (w *walk) pairs(base int, compare func(e element, before, after int)) {
	items := w.items[base:]
	slices.SortFunc(items, func(a, b item) int { return a.element.compare(b.element) })
	for len(items) > 0 && !w.failed {
		same := 1
		for same < len(items) && items[same].element.compare(items[0].element) == 0 {
			same++
		}
		indexes := [2]int{-1, -1}
		for _, it := range items[:same] {
			side := 0
			if it.after {
				side = 1
			}
			if indexes[side] >= 0 {
				w.failed = true
				return
			}
			indexes[side] = it.index
		}
		e := items[0].element
		items = items[same:]
		compare(e, indexes[0], indexes[1])
	}
}

// itemElement returns the path element of an item, and false for an item without a key.
func (w *walk) itemElement(n *node, v reflect.Value) (element, bool) {
	base := len(w.scalars)
	if len(n.keys) == 0 {
		w.scalars = append(w.scalars, scalarOf(v))
		return element{kind: valueElement, values: w.scalars[base:]}, true
	}
	for _, k := range n.keys {
		if field := k.field.of(v); field.IsValid() {
			w.scalars = append(w.scalars, scalarOf(field))
			continue
		}
		known, ok := scalarOfAny(k.value)
		if !ok {
			return element{}, false
		}
		w.scalars = append(w.scalars, known)
	}
	return element{kind: keyElement, keys: n.keyNames, values: w.scalars[base:]}, true
}

func scalarOf(v reflect.Value) scalar {
	if v.Kind() == reflect.String {
		return scalar{text: v.String()}
	}
	return scalar{number: v.Int(), isNumber: true}
}

// scalarOfAny returns a string or an integer, and false for other values.
func scalarOfAny(v any) (scalar, bool) {
	switch v := v.(type) {
	case string:
		return scalar{text: v}, true
	case int64:
		return scalar{number: v, isNumber: true}, true
	case float64:
		// JSON has no difference between 80 and 80.0.
		whole := v == math.Trunc(v) && math.Abs(v) < 1e15 && !math.Signbit(v)
		return scalar{number: int64(v), isNumber: true}, whole
	}
	return scalar{}, false
}
