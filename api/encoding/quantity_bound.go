package encoding

import (
	"bytes"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Limits of a resource.Quantity in a body. Decoding takes time quadratic in the digits, and
// "1e-100000000" has as many of them as its exponent says.
const (
	maxQuantityDigits  = 4096 // in one number
	maxExponentDigits  = 3
	maxShortProtoBytes = 127 // the length of a longer string takes two bytes
)

// digitEscape matches the JSON escapes of the characters of a number.
var digitEscape = regexp.MustCompile(`\\u00(?:3[0-9]|[46]5|2[bdeBDE])`)

// checkQuantities decodes a body in which all numbers beyond the limits of a quantity are replaced
// by text that is no quantity. It returns the kind and the error, which is not nil if one of the
// numbers is in a quantity. A body without such numbers is not decoded.
func (m *MediaType) checkQuantities(serializer runtime.Decoder, data []byte, o DecodeOptions) (schema.GroupVersionKind, error) {
	probe, ok := m.replaceNumbers(data)
	if !ok {
		return schema.GroupVersionKind{}, nil
	}
	_, kind, err := serializer.Decode(probe, &o.Kind, o.Into.DeepCopyObject())
	if runtime.IsStrictDecodingError(err) {
		err = nil
	}
	if kind == nil {
		kind = &schema.GroupVersionKind{}
	}
	return *kind, err
}

// replaceNumbers returns a copy of a body in which the numbers beyond the limits are replaced. ok
// is false if there are none.
func (m *MediaType) replaceNumbers(data []byte) (probe []byte, ok bool) {
	whole := wholeJSONNumber
	switch m.Type {
	case runtime.ContentTypeJSON:
		data = unescapeDigits(data)
	case runtime.ContentTypeYAML:
		if !bytes.ContainsRune(data, '\\') && len(findNumbers(data, anyNumber)) == 0 {
			return nil, false
		}
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, false // the decoder returns the error
		}
		data = unescapeDigits(converted)
	case runtime.ContentTypeProtobuf:
		whole = wholeProtobufNumber
	default:
		whole = anyNumber
	}
	numbers := findNumbers(data, whole)
	if len(numbers) == 0 {
		return nil, false
	}
	probe = slices.Clone(data)
	for _, n := range numbers {
		n.replace(probe)
	}
	return probe, true
}

// unescapeDigits replaces the escapes of digits, signs and exponents.
func unescapeDigits(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u00`)) {
		return data
	}
	return digitEscape.ReplaceAllFunc(data, func(escape []byte) []byte {
		high, low := escape[4]-'0', escape[5]-'0'
		if low > 9 {
			low = escape[5]&^0x20 - 'A' + 10
		}
		return []byte{high<<4 | low}
	})
}

// number is the position of a number in a body.
type number struct {
	start, end int
	quoted     bool // or in a format without quotes
}

// replace overwrites a number with text that is no quantity and has the same length.
func (n number) replace(data []byte) {
	if n.quoted {
		data[(n.start+n.end)/2] = 'x'
		return
	}
	for i := n.start; i < n.end; i++ {
		data[i] = 'x'
	}
	data[n.start], data[n.end-1] = '"', '"'
}

// findNumbers returns the numbers beyond the limits that whole accepts.
func findNumbers(data []byte, whole func(data []byte, start, end int) (number, bool)) []number {
	var found []number
	for i := 0; i < len(data); i++ {
		var start, end int
		switch {
		case isExponent(data, i):
			start, end = numberAround(data, i)
		case i%maxQuantityDigits == 0 && isNumeral(data[i]):
			if start, end = numberAround(data, i); end-start <= maxQuantityDigits {
				continue
			}
		default:
			continue
		}
		if n, ok := whole(data, start, end); ok {
			found = append(found, n)
		}
		i = max(i, end-1)
	}
	return found
}

// isExponent reports whether an exponent of more than maxExponentDigits begins at i.
func isExponent(data []byte, i int) bool {
	if data[i]|0x20 != 'e' || i == 0 || !isNumeral(data[i-1]) {
		return false
	}
	digits := data[i+1:]
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if len(digits) <= maxExponentDigits {
		return false
	}
	return !slices.ContainsFunc(digits[:maxExponentDigits+1], func(c byte) bool { return c < '0' || c > '9' })
}

func isNumeral(c byte) bool { return c >= '0' && c <= '9' || c == '.' }

// numberAround returns the longest text around i that has only characters of numbers.
func numberAround(data []byte, i int) (start, end int) {
	inside := func(c byte) bool { return isNumeral(c) || c == '-' || c == '+' || c|0x20 == 'e' }
	for start = i; start > 0 && inside(data[start-1]); start-- {
	}
	for end = i; end < len(data) && inside(data[end]); end++ {
	}
	return start, end
}

// wholeJSONNumber accepts numbers that are a complete value.
func wholeJSONNumber(data []byte, start, end int) (number, bool) {
	quoted := start > 0 && data[start-1] == '"'
	switch {
	case quoted: // a suffix may follow the digits
		return number{start, end, true}, true
	case start > 0 && bytes.IndexByte([]byte(" \t\r\n:,["), data[start-1]) < 0:
		return number{}, false
	case end < len(data) && bytes.IndexByte([]byte(" \t\r\n,]}"), data[end]) < 0:
		return number{}, false
	}
	return number{start, end, false}, true
}

// wholeProtobufNumber accepts numbers that are a complete string with the field number 1, as in a
// quantity. The characters around the string may look like a part of the number.
func wholeProtobufNumber(data []byte, start, end int) (number, bool) {
	const stringField = 1<<3 | 2
	if end-start > maxShortProtoBytes {
		return number{start, end, true}, true
	}
	for s := max(start, 2); s < end; s++ {
		if length := int(data[s-1]); data[s-2] == stringField && length > 0 && s+length <= end {
			return number{s, s + length, true}, true
		}
	}
	return number{}, false
}

// anyNumber accepts all numbers.
func anyNumber(_ []byte, start, end int) (number, bool) { return number{start, end, true}, true }

// CheckQuantities returns a 400 if a number in a JSON or YAML body is beyond the limits of a
// quantity and in a quantity of the kind.
func (c *Codec) CheckQuantities(data []byte, o DecodeOptions) error {
	m := c.JSON()
	if !bytes.HasPrefix(data, []byte("{")) {
		var err error
		if m, err = c.ForContentType(runtime.ContentTypeYAML); err != nil {
			return err
		}
	}
	if _, err := m.checkQuantities(m.lax, data, o); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}
