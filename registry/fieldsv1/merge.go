package fieldsv1

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// merger merges changes into the FieldsV1 of a manager. It supports FieldsV1 in the form that
// package fieldpath writes: sorted, without spaces and without characters that JSON escapes.
type merger struct {
	changes []change
	// owns: the manager is the writer, which owns the added and modified fields.
	owns bool
	in   string // the rest of the FieldsV1
	out  []byte
	// failed: the FieldsV1 are not supported.
	failed bool
}

// merge returns the FieldsV1 of a manager after the changes: without the changed fields, and for
// the writer with the fields that it owns. The result is {} if no field is left, and valid until
// the next call. merge returns false for FieldsV1 that are not supported.
func (w *walk) merge(root *node, fields string, owns bool) ([]byte, bool) {
	m := &merger{changes: w.changes.nodes, owns: owns, in: fields, out: w.merged[:0]}
	m.expect("{")
	m.out = append(m.out, '{')
	m.children(root, 0, len(m.changes), false)
	m.out = append(m.out, '}')
	w.merged = m.out
	return m.out, !m.failed && m.in == ""
}

// newFields returns FieldsV1 with a copy of fields.
func newFields(fields []byte) *metav1.FieldsV1 {
	f := &metav1.FieldsV1{}
	f.SetRawBytes(fields)
	return f
}

// children reads the rest of an object and writes it with the changes in a range of indexes. It
// reports whether the written object has fields; before is whether it has had one before.
func (m *merger) children(n *node, from, to int, before bool) bool {
	wrote := before
	var last element
	for first := true; !m.failed && !m.take("}"); first = false {
		if !first {
			m.expect(",")
		}
		text, e := m.element()
		if !first && last.compare(e) >= 0 {
			m.failed = true
		}
		last = e
		for from < to && !m.failed && m.changes[from].element.compare(e) < 0 {
			wrote = m.insert(from, wrote)
			from = m.changes[from].end
		}
		same := change{element: e, end: from}
		inner := from
		if from < to && m.changes[from].element.compare(e) == 0 {
			same, inner = m.changes[from], from+1
			from = same.end
		}
		if !m.failed {
			wrote = m.child(n.child(e), text, same, inner, wrote)
		}
	}
	return m.insertAll(from, to, wrote)
}

// child reads and writes one field with its changes, which are the nodes from an index to the end
// of the change.
func (m *merger) child(n *node, text string, c change, from int, before bool) bool {
	m.expect(":{")
	leaf := m.take("}")
	member := leaf || m.take(`".":{}`)
	if !leaf && member {
		m.expect(",")
	}
	if n == nil || !leaf && n.atomic || m.failed {
		m.failed = true
		return before
	}
	start := len(m.out)
	if before {
		m.out = append(m.out, ',')
	}
	m.out = append(append(m.out, text...), ":{"...)
	mark := len(m.out)
	member = member && c.flags&changed == 0 || m.owns && c.flags.owned()
	if member {
		m.out = append(m.out, `".":{}`...)
	}
	empty := len(m.out)
	if leaf {
		m.insertAll(from, c.end, member)
	} else {
		m.children(n, from, c.end, member)
	}
	switch filled := len(m.out) > empty; {
	case !filled && !member:
		m.out = m.out[:start]
		return before
	case !filled:
		m.out = m.out[:mark]
	}
	m.out = append(m.out, '}')
	return true
}

// insertAll writes the owned changes in a range of indexes.
func (m *merger) insertAll(from, to int, before bool) bool {
	for from < to {
		before = m.insert(from, before)
		from = m.changes[from].end
	}
	return before
}

// insert writes the owned changes of a node.
func (m *merger) insert(index int, before bool) bool {
	if !m.owns {
		return before
	}
	c := m.changes[index]
	start := len(m.out)
	if before {
		m.out = append(m.out, ',')
	}
	m.out = append(c.element.appendTo(m.out), ":{"...)
	mark := len(m.out)
	owned := c.flags.owned()
	if owned {
		m.out = append(m.out, `".":{}`...)
	}
	empty := len(m.out)
	m.insertAll(index+1, c.end, owned)
	switch filled := len(m.out) > empty; {
	case !filled && !owned:
		m.out = m.out[:start]
		return before
	case !filled:
		m.out = m.out[:mark]
	}
	m.out = append(m.out, '}')
	return true
}

func (m *merger) take(prefix string) bool {
	rest, found := strings.CutPrefix(m.in, prefix)
	m.in = rest
	return found
}

func (m *merger) expect(prefix string) {
	if !m.take(prefix) {
		m.failed = true
	}
}

// element reads a path element. The text has its quotes.
func (m *merger) element() (text string, e element) {
	start := m.in
	switch {
	case m.take(`"f:`):
		end := strings.IndexByte(m.in, '"')
		if end < 0 {
			m.failed = true
			return "", e
		}
		e = fieldOf(m.in[:end])
		m.in = m.in[end+1:]
	case m.take(`"k:{`):
		e.kind = keyElement
		m.keys(&e)
		m.expect(`"`)
	case m.take(`"v:`):
		e.kind, e.values = valueElement, []scalar{m.scalar()}
		m.expect(`"`)
	default:
		m.failed = true
	}
	if !e.isPlain() {
		m.failed = true
	}
	return start[:len(start)-len(m.in)], e
}

// keys reads the keys of a list item.
func (m *merger) keys(e *element) {
	for !m.failed {
		m.expect(`\"`)
		end := strings.IndexByte(m.in, '\\')
		if end < 0 {
			m.failed = true
			return
		}
		name := m.in[:end]
		m.in = m.in[end:]
		m.expect(`\":`)
		if len(e.keys) > 0 && e.keys[len(e.keys)-1] >= name || !isPlain(name, "") {
			m.failed = true
		}
		e.keys, e.values = append(e.keys, name), append(e.values, m.scalar())
		if m.take("}") {
			return
		}
		m.expect(",")
	}
}

// scalar reads the value of a key or of an item of a set.
func (m *merger) scalar() scalar {
	if m.take(`\"`) {
		end := strings.IndexByte(m.in, '\\')
		if end < 0 {
			m.failed = true
			return scalar{}
		}
		s := scalar{text: m.in[:end]}
		m.in = m.in[end:]
		m.expect(`\"`)
		return s
	}
	end := strings.IndexFunc(m.in, func(r rune) bool { return !strings.ContainsRune("-0123456789", r) })
	if end < 0 {
		m.failed = true
		return scalar{}
	}
	text := m.in[:end]
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(number, 10) != text {
		m.failed = true
	}
	m.in = m.in[end:]
	return scalar{number: number, isNumber: true}
}

// child returns the plan of the fields at a path element, and nil for an unknown one.
func (n *node) child(e element) *node {
	switch {
	case n.atom.Map != nil && e.kind == fieldElement:
		return n.field(e.name)
	case n.atom.Map == nil && n.atom.Scalar == nil && n.item != nil && e.kind != fieldElement:
		return n.item.node()
	}
	return nil
}
