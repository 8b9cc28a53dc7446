package fieldtree

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Layouts caches the layouts of Go types. The zero value is ready for use. Safe for concurrent use.
type Layouts struct {
	structs sync.Map // of *layout, by reflect.Type
	opaque  sync.Map // of bool, by reflect.Type
}

// layout has the JSON fields of a struct, by name.
type layout map[string]field

// field is a JSON field of a struct.
type field struct {
	index int
	// path leads through embedded structs to the struct with index. Nil: the struct itself.
	path []int
	// container is set for a struct, or a pointer to a struct, whose fields are JSON fields and
	// which is encoded even if they are all empty.
	container bool
	// omitEmpty and omitZero are the options of the JSON tag.
	omitEmpty, omitZero bool
	// mergeKey is the JSON name of the field by which a strategic merge patch merges the items of a
	// list of structs. Empty: the field is no such list.
	mergeKey string
}

// of returns the layout of a struct type.
func (l *Layouts) of(t reflect.Type) layout {
	if known, ok := l.structs.Load(t); ok {
		return known.(layout)
	}
	fields := layout{}
	fields.add(t, nil)
	l.structs.Store(t, fields)
	return fields
}

// add adds the fields of a struct type and of the structs that are embedded in it. The type header
// is left out: a patch of it can change the kind.
func (l layout) add(t reflect.Type, path []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[metav1.TypeMeta](), !f.IsExported(), name == "-":
		case name == "" && f.Type.Kind() == reflect.Struct && (f.Anonymous || strings.Contains(options, "inline")):
			l.add(f.Type, append(path[:len(path):len(path)], i))
		case name != "":
			replaced := strings.Contains(f.Tag.Get("patchStrategy"), "replace")
			added := field{index: i, path: path, mergeKey: mergeKeyOf(f)}
			added.omitEmpty, added.omitZero = strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")
			added.container = !added.omitZero && !replaced && isContainer(f.Type)
			l[name] = added
		}
	}
}

// in returns the value of a field in a struct.
func (f field) in(v reflect.Value) reflect.Value {
	for _, i := range f.path {
		v = v.Field(i)
	}
	return v.Field(f.index)
}

// omits reports whether the JSON of an object leaves out a value of the field.
func (f field) omits(v reflect.Value) bool {
	return f.omitEmpty && isEmpty(v) || f.omitZero && isZero(v)
}

// isEmpty reports whether a value is empty in the sense of the option omitempty of encoding/json.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// isZero reports whether a value is zero in the sense of the option omitzero of encoding/json.
func isZero(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return true
	}
	if zeroer, ok := v.Addr().Interface().(interface{ IsZero() bool }); ok {
		return zeroer.IsZero()
	}
	return v.IsZero()
}

// isContainer reports whether a type is a struct, or a pointer to a struct, that encodes and
// decodes itself by its fields.
func isContainer(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !hasOwnEncoding(t)
}

func mergeKeyOf(f reflect.StructField) string {
	isList := f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct
	if !isList || hasOwnEncoding(f.Type.Elem()) || !strings.Contains(f.Tag.Get("patchStrategy"), "merge") {
		return ""
	}
	return f.Tag.Get("patchMergeKey")
}

func hasOwnEncoding(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, method := range [...]reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if p.Implements(method) {
			return true
		}
	}
	return false
}

// isOpaque reports whether objects of a type encode themselves, or may contain raw JSON or values
// of any type. Encoding and decoding changes the bytes of raw JSON, so also the fields that a patch
// does not touch change.
func (l *Layouts) isOpaque(t reflect.Type) bool {
	if known, ok := l.opaque.Load(t); ok {
		return known.(bool)
	}
	opaque := !isContainer(t) || containsRaw(t, map[reflect.Type]bool{})
	l.opaque.Store(t, opaque)
	return opaque
}

// containsRaw searches a type for interfaces and raw JSON. It skips the raw fields of field
// managers, which every write computes.
func containsRaw(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t == reflect.TypeFor[metav1.FieldsV1]() {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return containsRaw(t.Elem(), seen)
	case reflect.Map:
		return containsRaw(t.Elem(), seen)
	case reflect.Struct:
		if raw, ok := t.FieldByName("Raw"); ok && raw.Type == reflect.TypeFor[[]byte]() {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" && containsRaw(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
