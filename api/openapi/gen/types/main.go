// Types writes the structured-merge-diff schemas of the built-in types in the format of package
// typed. It reads the OpenAPI definitions that gen has written.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: types DEFINITIONS FILE")
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func generate(definitions, target string) error {
	models, err := load(definitions)
	if err != nil {
		return err
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	if err != nil {
		return err
	}
	w := writer{keys: keysOf(converted)}
	slices.SortFunc(converted.Types, func(a, b smd.TypeDef) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range converted.Types {
		if t.Name == untyped || t.Name == deduced {
			continue
		}
		w.out.WriteString(t.Name + " ")
		w.atom(t.Atom)
		w.out.WriteByte('\n')
	}
	if w.err != nil {
		return w.err
	}
	return os.WriteFile(target, w.out.Bytes(), 0o644)
}

func load(path string) (map[string]*spec.Schema, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var all map[string]struct {
		V3 *spec.Schema `json:"v3"`
	}
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		return nil, err
	}
	models := map[string]*spec.Schema{}
	for name, d := range all {
		models[name] = d.V3
	}
	return models, nil
}

// keysOf returns the names of all fields that are keys of list items. Only their defaults are
// written.
func keysOf(s *smd.Schema) map[string]bool {
	keys := map[string]bool{}
	var visit func(a smd.Atom)
	visit = func(a smd.Atom) {
		if a.List != nil {
			for _, key := range a.List.Keys {
				keys[key] = true
			}
			visit(a.List.ElementType.Inlined)
		}
		if a.Map != nil {
			visit(a.Map.ElementType.Inlined)
			for _, f := range a.Map.Fields {
				visit(f.Type.Inlined)
			}
		}
	}
	for _, t := range s.Types {
		visit(t.Atom)
	}
	return keys
}

// The types of untyped values: merged as a whole, or field by field.
const (
	untyped = "__untyped_atomic_"
	deduced = "__untyped_deduced_"
)

// writer writes types in the notation that package typed documents.
type writer struct {
	keys map[string]bool
	out  bytes.Buffer
	err  error
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *writer) atom(a smd.Atom) {
	switch {
	case a.Scalar != nil && a.List != nil && a.Map != nil:
		w.untyped(a)
	case a.Scalar != nil:
		w.out.WriteByte((*a.Scalar)[0])
	case a.List != nil:
		w.list(a.List)
	case a.Map != nil:
		w.object(a.Map)
	default:
		w.fail("a type without a scalar, list or map")
	}
}

func (w *writer) untyped(a smd.Atom) {
	switch name := a.Map.ElementType.NamedType; {
	case name == nil || len(a.Map.Fields) > 0:
		w.fail("a type of several unlike kinds")
	case *name == untyped:
		w.out.WriteByte('*')
	default:
		w.out.WriteByte('?')
	}
}

func (w *writer) list(l *smd.List) {
	w.out.WriteByte('[')
	switch {
	case len(l.Keys) > 0:
		w.out.WriteString(strings.Join(l.Keys, ","))
	case l.ElementRelationship == smd.Associative:
		w.out.WriteByte('=')
	}
	w.out.WriteByte(']')
	w.ref(l.ElementType)
}

func (w *writer) object(m *smd.Map) {
	if m.ElementRelationship == smd.Atomic {
		w.out.WriteByte('!')
	}
	w.out.WriteByte('{')
	fields := slices.Clone(m.Fields)
	slices.SortFunc(fields, func(a, b smd.StructField) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range fields {
		w.out.WriteString(f.Name + ":")
		w.ref(f.Type)
		w.defaultOf(f)
	}
	if m.ElementType.NamedType != nil || m.ElementType.Inlined != (smd.Atom{}) {
		w.out.WriteString(":")
		w.ref(m.ElementType)
	}
	w.out.WriteByte('}')
}

// defaultOf writes the default of a field that is a key of list items.
func (w *writer) defaultOf(f smd.StructField) {
	if w.keys[f.Name] && f.Default != nil {
		value, err := json.Marshal(f.Default)
		if err != nil || strings.ContainsAny(string(value), " {}[]") && string(value) != "{}" {
			w.fail("default of %s: %s %v", f.Name, value, err)
		}
		if string(value) != "{}" {
			w.out.WriteString("=" + string(value))
		}
	}
	w.out.WriteByte(' ')
}

func (w *writer) ref(r smd.TypeRef) {
	if r.ElementRelationship != nil {
		w.out.WriteByte(map[smd.ElementRelationship]byte{smd.Atomic: '!', smd.Separable: '~'}[*r.ElementRelationship])
	}
	switch {
	case r.Nullable:
		w.fail("a type that may be null")
	case r.NamedType == nil:
		w.atom(r.Inlined)
	case *r.NamedType == untyped:
		w.out.WriteByte('*')
	case *r.NamedType == deduced:
		w.out.WriteByte('?')
	default:
		w.out.WriteString("@" + *r.NamedType)
	}
}
