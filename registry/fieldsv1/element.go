package fieldsv1

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// element is an element of a path. Elements are ordered as in FieldsV1.
type element struct {
	// kind is fieldElement, keyElement or valueElement; these are in order.
	kind byte
	// name is the name of a field.
	name string
	// keys are the sorted names of the keys of a list item.
	keys []string
	// values are the values of the keys, or the value of an item of a set.
	values []scalar
}

const (
	fieldElement = 'f'
	keyElement   = 'k'
	valueElement = 'v'
)

// scalar is a string or an integer.
type scalar struct {
	text     string
	number   int64
	isNumber bool
}

func fieldOf(name string) element { return element{kind: fieldElement, name: name} }

func (e element) compare(other element) int {
	switch {
	case e.kind != other.kind:
		return cmp.Compare(e.kind, other.kind)
	case e.kind == fieldElement:
		return strings.Compare(e.name, other.name)
	}
	for i := range min(len(e.values), len(other.values)) {
		if e.kind == keyElement {
			if c := strings.Compare(e.keys[i], other.keys[i]); c != 0 {
				return c
			}
		}
		if c := e.values[i].compare(other.values[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(e.values), len(other.values))
}

// compare orders numbers before strings.
func (s scalar) compare(other scalar) int {
	switch {
	case s.isNumber && other.isNumber:
		return cmp.Compare(s.number, other.number)
	case s.isNumber:
		return -1
	case other.isNumber:
		return 1
	}
	return strings.Compare(s.text, other.text)
}

// appendTo appends the element in JSON, with its quotes.
func (e element) appendTo(out []byte) []byte {
	out = append(out, '"', e.kind, ':')
	switch e.kind {
	case fieldElement:
		out = append(out, e.name...)
	case keyElement:
		out = append(out, '{')
		for i, key := range e.keys {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(append(out, `\"`...), key...), `\":`...)
			out = e.values[i].appendTo(out)
		}
		out = append(out, '}')
	default:
		out = e.values[0].appendTo(out)
	}
	return append(out, '"')
}

func (s scalar) appendTo(out []byte) []byte {
	if s.isNumber {
		return strconv.AppendInt(out, s.number, 10)
	}
	return append(append(append(out, `\"`...), s.text...), `\"`...)
}

// isPlain reports whether an element contains no character that JSON escapes.
func (e element) isPlain() bool {
	return isPlain(e.name, "") && !slices.ContainsFunc(e.values, func(s scalar) bool { return !isPlain(s.text, "<>&") })
}

// isPlain reports whether a text consists of printable ASCII characters without quotes,
// backslashes and the additional characters.
func isPlain(text, without string) bool {
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return without == "" || !strings.ContainsAny(text, without)
}
