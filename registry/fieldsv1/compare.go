package fieldsv1

import (
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// walk compares two objects. A Plan reuses walks.
type walk struct {
	changes
	// strings are the keys of maps that are being compared.
	strings []string
	// items are the items of lists that are being compared.
	items []item
	// scalars are the values in the elements of the items and changes.
	scalars []scalar
	// merged is the buffer of the results of merge.
	merged []byte
}

// maxMerged is the size of a buffer that is kept for the next walk.
const maxMerged = 64 << 10

func (w *walk) reset() {
	w.changes.reset()
	clear(w.strings)
	clear(w.items)
	clear(w.scalars)
	w.strings, w.items, w.scalars = w.strings[:0], w.items[:0], w.scalars[:0]
	if cap(w.merged) > maxMerged {
		w.merged = nil
	}
}

// objects compares two objects of the Go type of a plan.
func (w *walk) objects(p *Plan, before, after reflect.Value) {
	if p.root.kind != object {
		w.failed = true
		return
	}
	w.fields(p.root, p.scope, before, after)
}

// compare adds the changes of a field. An invalid value is absent.
func (w *walk) compare(n *node, e element, s *scope, before, after reflect.Value) {
	if n.kind == leaf {
		w.leaf(e, w.leafChange(before, after), s)
		return
	}
	l, r := content(before), content(after)
	index := w.open(e)
	var lAny, rAny bool
	switch n.kind {
	case object:
		lAny, rAny = w.fields(n, s, l, r)
	case dictionary:
		lAny, rAny = w.entries(n, s, l, r)
	case list:
		lAny, rAny = w.list(n, s, l, r)
	default:
		w.failed = true
	}
	f := present(before.IsValid(), after.IsValid())
	if !lAny && !rAny && l.IsValid() != r.IsValid() && f == 0 {
		f = modified // from null to empty, or from empty to null
	}
	w.close(index, f, s)
}

// content returns the value behind a pointer. The result is invalid for null and for no value.
func content(v reflect.Value) reflect.Value {
	if v.IsValid() && v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	if v.IsValid() && (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.IsNil() {
		return reflect.Value{}
	}
	return v
}

// fields compares the fields of two structs, and reports which of the structs have fields.
func (w *walk) fields(n *node, s *scope, before, after reflect.Value) (lAny, rAny bool) {
	for _, f := range n.fields {
		l, r := f.of(before), f.of(after)
		inner := s.field(f.name)
		if !l.IsValid() && !r.IsValid() || inner.ignores() {
			continue
		}
		lAny, rAny = lAny || l.IsValid(), rAny || r.IsValid()
		w.compare(f.node(), fieldOf(f.name), inner, l, r)
	}
	return lAny, rAny
}

// of returns the field of a struct, or an invalid value if JSON omits it.
func (f *field) of(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return v
	}
	for _, i := range f.index {
		v = v.Field(i)
	}
	if f.omitEmpty && isEmpty(v) || f.omitZero != nil && f.omitZero(v) {
		return reflect.Value{}
	}
	return v
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		return false
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Float32, reflect.Float64:
		return v.Float() == 0
	}
	return v.IsZero()
}

// entries compares the entries of two maps, and reports which of the maps have entries.
func (w *walk) entries(n *node, s *scope, before, after reflect.Value) (lAny, rAny bool) {
	lAny, rAny = before.IsValid() && before.Len() > 0, after.IsValid() && after.Len() > 0
	if (lAny || rAny) && n.goType == reflect.TypeFor[map[string]string]() {
		w.texts(n, s, textsOf(before), textsOf(after))
		return lAny, rAny
	}
	base := len(w.strings)
	if lAny {
		for it := before.MapRange(); it.Next(); {
			w.strings = append(w.strings, it.Key().String())
		}
	}
	if rAny {
		for it := after.MapRange(); it.Next(); {
			w.strings = append(w.strings, it.Key().String())
		}
	}
	for _, name := range w.sorted(base) {
		key := reflect.ValueOf(name).Convert(n.goType.Key())
		var l, r reflect.Value
		if lAny {
			l = before.MapIndex(key)
		}
		if rAny {
			r = after.MapIndex(key)
		}
		w.compare(n.other.node(), fieldOf(name), s.field(name), l, r)
	}
	w.strings = w.strings[:base]
	return lAny, rAny
}

// sorted sorts and compacts the strings from an index.
func (w *walk) sorted(base int) []string {
	slices.Sort(w.strings[base:])
	return slices.Compact(w.strings[base:])
}

func textsOf(v reflect.Value) map[string]string {
	if !v.IsValid() {
		return nil
	}
	return v.Interface().(map[string]string)
}

// texts compares the entries of two maps of strings.
func (w *walk) texts(n *node, s *scope, before, after map[string]string) {
	if n.other.node().kind != leaf {
		w.failed = true
		return
	}
	base := len(w.strings)
	w.strings = slices.AppendSeq(w.strings, maps.Keys(before))
	w.strings = slices.AppendSeq(w.strings, maps.Keys(after))
	for _, name := range w.sorted(base) {
		l, inBefore := before[name]
		r, inAfter := after[name]
		f := present(inBefore, inAfter)
		if f == 0 && l != r {
			f = modified
		}
		w.leaf(fieldOf(name), f, s.field(name))
	}
	w.strings = w.strings[:base]
}

// leafChange returns the change of a scalar or of an atomic value.
func (w *walk) leafChange(before, after reflect.Value) flags {
	if f := present(before.IsValid(), after.IsValid()); f != 0 {
		return f
	}
	if w.equal(before, after) {
		return 0
	}
	return modified
}

// equal compares two values of the same type. Values of Go that are not equal may have the same
// JSON; package value compares them.
func (w *walk) equal(before, after reflect.Value) bool {
	switch before.Kind() {
	case reflect.String:
		return before.String() == after.String()
	case reflect.Bool:
		return before.Bool() == after.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return before.Int() == after.Int()
	case reflect.Pointer:
		if before.IsNil() || after.IsNil() {
			return before.IsNil() == after.IsNil()
		}
		if k := before.Elem().Kind(); k != reflect.Struct && k != reflect.Map && k != reflect.Slice {
			return w.equal(before.Elem(), after.Elem())
		}
		return w.equalContent(before, after)
	}
	return w.equalContent(addressOf(before), addressOf(after))
}

func addressOf(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v.Addr()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}

// equalContent compares the values behind two pointers.
func (w *walk) equalContent(before, after reflect.Value) bool {
	if reflect.DeepEqual(before.Interface(), after.Interface()) {
		return true
	}
	l, err := value.NewValueReflect(before.Interface())
	if err != nil {
		w.failed = true
		return false
	}
	r, err := value.NewValueReflect(after.Interface())
	if err != nil {
		w.failed = true
		return false
	}
	return value.Equals(l, r)
}
