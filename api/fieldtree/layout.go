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
			omitted := strings.Contains(options, "omitzero")
			replaced := strings.Contains(f.Tag.Get("patchStrategy"), "replace")
			l[name] = field{index: i, path: path, container: !omitted && !replaced && isContainer(f.Type), mergeKey: mergeKeyOf(f)}
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

// isOpaque reports whether objects of a type may contain raw JSON or values of any type. Encoding
// and decoding changes their bytes, so also the fields that a patch does not touch change.
func (l *Layouts) isOpaque(t reflect.Type) bool {
	if known, ok := l.opaque.Load(t); ok {
		return known.(bool)
	}
	opaque := containsRaw(t, map[reflect.Type]bool{})
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
