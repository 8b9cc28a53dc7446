package fieldsv1

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Config describes the objects of a plan.
type Config struct {
	// Schema and Type are the merge rules.
	Schema *schema.Schema
	Type   schema.TypeRef
	// GoType is the struct of the objects. Nil: objects are unstructured.
	GoType reflect.Type
	// Owns selects the fields that a writer can own. Nil: all.
	Owns fieldpath.Filter
}

// Plan compares objects of one kind. It is safe for concurrent use.
type Plan struct {
	root  *node
	scope *scope
	walks sync.Pool // of *walk
}

// New returns a plan, and false if the filter is not supported.
func New(config Config) (*Plan, bool) {
	s, ok := newScope(config.Owns)
	if !ok {
		return nil, false
	}
	p := &Plan{root: newNode(config.Schema, config.Type, config.GoType), scope: s}
	p.walks.New = func() any { return &walk{} }
	return p, true
}

// kind is the way in which the values of a node are compared.
type kind uint8

const (
	unsupported kind = iota
	leaf             // a scalar or an atomic value
	object           // a struct
	dictionary       // a map
	list             // a list with items that have keys, or a set
	anything         // unstructured: any of these
)

// node is the plan of a type.
type node struct {
	kind   kind
	goType reflect.Type // not a pointer; nil: unstructured
	atom   schema.Atom
	// atomic: the fields below are never owned.
	atomic bool
	fields []*field          // of an object, sorted by name
	named  map[string]*field // the fields with names of an object or of unstructured values
	other  *field            // the other fields of a map
	item   *field            // the items of a list
	keys   []key             // of the items of a list, sorted; none: a set
	// keyNames are the names of the keys.
	keyNames []string
}

// field is a field of a struct or the items of a list or map.
type field struct {
	name  string
	index []int
	// omitEmpty and omitZero are the options of the field's JSON tag.
	omitEmpty bool
	omitZero  func(reflect.Value) bool

	schema *schema.Schema
	ref    schema.TypeRef
	goType reflect.Type
	once   sync.Once
	built  *node
}

// node returns the plan of the field's type, which is built on first use.
func (f *field) node() *node {
	f.once.Do(func() { f.built = newNode(f.schema, f.ref, f.goType) })
	return f.built
}

// newNode returns the plan of a type.
func newNode(s *schema.Schema, ref schema.TypeRef, goType reflect.Type) *node {
	n := &node{}
	var ok bool
	if n.atom, ok = s.Resolve(ref); !ok {
		return n
	}
	switch {
	case n.atom.Map != nil:
		n.atomic = n.atom.Map.ElementRelationship == schema.Atomic
	case n.atom.Scalar == nil && n.atom.List != nil:
		n.atomic = n.atom.List.ElementRelationship == schema.Atomic
	}
	if goType == nil {
		n.buildUnstructured(s)
		return n
	}
	if goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	n.goType = goType
	if value.TypeReflectEntryOf(goType).CanConvertToUnstructured() {
		if n.isOnlyScalar() || n.isAtomicInAllForms() || goType == reflect.TypeFor[intstr.IntOrString]() {
			n.kind = leaf
		}
		return n
	}
	n.build(s)
	return n
}

func (n *node) isOnlyScalar() bool {
	return n.atom.Scalar != nil && n.atom.List == nil && n.atom.Map == nil
}

func (n *node) isAtomicInAllForms() bool {
	a := n.atom
	return a.Scalar != nil && a.List != nil && a.Map != nil &&
		a.List.ElementRelationship == schema.Atomic && a.Map.ElementRelationship == schema.Atomic
}

// build sets the kind of a node with a Go type.
func (n *node) build(s *schema.Schema) {
	onlyMap := n.atom.Map != nil && n.atom.Scalar == nil && n.atom.List == nil
	onlyList := n.atom.List != nil && n.atom.Scalar == nil && n.atom.Map == nil
	switch kind := n.goType.Kind(); {
	case kind == reflect.Struct && onlyMap:
		n.kind = leaf
		if !n.atomic {
			n.buildObject(s)
		}
	case kind == reflect.Map && onlyMap && n.goType.Key().Kind() == reflect.String && len(n.atom.Map.Fields) == 0:
		n.kind = leaf
		if !n.atomic {
			n.kind, n.other = dictionary, newItem(s, n.atom.Map.ElementType, n.goType.Elem())
		}
	case kind == reflect.Slice && n.goType.Elem().Kind() == reflect.Uint8:
		if n.atom.Scalar != nil && (*n.atom.Scalar == schema.String || *n.atom.Scalar == schema.Untyped) {
			n.kind = leaf
		}
	case kind == reflect.Slice && onlyList:
		n.kind = leaf
		if !n.atomic {
			n.buildList(s)
		}
	case n.atom.Scalar != nil && accepts(*n.atom.Scalar, kind):
		n.kind = leaf
	}
}

// accepts reports whether the values of a kind of Go types are valid for a scalar type.
func accepts(s schema.Scalar, k reflect.Kind) bool {
	switch k {
	case reflect.String:
		return s == schema.String || s == schema.Untyped
	case reflect.Bool:
		return s == schema.Boolean || s == schema.Untyped
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Float32, reflect.Float64:
		return s == schema.Numeric || s == schema.Untyped
	}
	return false
}

// buildObject sets the fields of a struct.
func (n *node) buildObject(s *schema.Schema) {
	n.kind, n.named = object, map[string]*field{}
	n.addFields(s, n.goType, nil)
	for _, f := range n.named {
		n.fields = append(n.fields, f)
	}
	slices.SortFunc(n.fields, func(a, b *field) int { return strings.Compare(a.name, b.name) })
}

// addFields adds the fields of a struct and of the structs embedded in it.
func (n *node) addFields(s *schema.Schema, t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		at := append(slices.Clone(index), i)
		if f.Anonymous && name == "" {
			if f.Type.Kind() != reflect.Struct {
				n.kind = unsupported
				continue
			}
			n.addFields(s, f.Type, at)
			continue
		}
		if name == "" {
			name = f.Name
		}
		ref := n.atom.Map.ElementType
		if known, ok := n.atom.Map.FindField(name); ok {
			ref = known.Type
		}
		added := &field{name: name, index: at, schema: s, ref: ref, goType: f.Type}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				added.omitEmpty = true
			case "omitzero":
				added.omitZero = value.OmitZeroFunc(f.Type)
			}
		}
		n.named[name] = added
	}
}

func newItem(s *schema.Schema, ref schema.TypeRef, t reflect.Type) *field {
	return &field{schema: s, ref: ref, goType: t}
}
