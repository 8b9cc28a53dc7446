package kinds_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/kinds/feature"
)

// gateNames are the names of gates in markers that differ from the gate. Gates with the name "" do
// not exist any more.
var gateNames = map[string]string{
	"PodCertificateProjection": "PodCertificateRequest",
	"CSIStorageCapacity":       "",
	"TopologyAwareHints":       "",
}

// markers are the markers of the fields and types of k8s.io/api, without the plus sign, by package,
// type and field, such as k8s.io/api/core/v1.Pod.Spec.
type markers map[string][]string

var marker = regexp.MustCompile(`(?m)^\+(\S.*)$`)

func readMarkers(t *testing.T) markers {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(dir))
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "types.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no types in %s: %v", root, err)
	}
	m := markers{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg, _ := filepath.Rel(root, filepath.Dir(file))
		m.add("k8s.io/api/"+filepath.ToSlash(pkg), parsed)
	}
	return m
}

func (m markers) add(pkg string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			return true
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.TypeSpec)
			key := pkg + "." + spec.Name.Name
			m[key] = markersOf(decl.Doc)
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range fields.Fields.List {
				if len(f.Names) == 1 {
					m[key+"."+f.Names[0].Name] = markersOf(f.Doc)
				}
			}
		}
		return false
	})
}

func markersOf(doc *ast.CommentGroup) []string {
	var list []string
	for _, found := range marker.FindAllStringSubmatch(doc.Text(), -1) {
		list = append(list, found[1])
	}
	return list
}

// gatesOf returns the gates of a field.
func (m markers) gatesOf(field string) []string {
	for _, text := range m[field] {
		if gates, ok := strings.CutPrefix(text, "featureGate="); ok {
			return strings.Split(gates, ",")
		}
	}
	return nil
}

// gates returns the gates of all markers, each with one of its fields.
func (m markers) gates() map[string]string {
	gates := map[string]string{}
	for field := range m {
		for _, name := range m.gatesOf(field) {
			gates[name] = field
		}
	}
	return gates
}

var dependent = regexp.MustCompile(`(\w+) is enabled, but depends on`)

// without returns the features of a release without a gate and the gates that depend on it. ok is
// false if the release always has the gate, or never.
func without(release, marker string) (set *feature.Set, ok bool) {
	gate, renamed := gateNames[marker]
	if !renamed {
		gate = marker
	}
	if gate == "" {
		return nil, false
	}
	config := feature.Config{EmulatedVersion: release, Gates: map[string]bool{gate: false}}
	for {
		set, err := config.Set()
		switch {
		case err == nil:
			return set, true
		case strings.Contains(err.Error(), "locked"):
			return nil, false
		case strings.Contains(err.Error(), "PreAlpha"):
			set, _ := feature.Config{EmulatedVersion: release}.Set()
			return set, true
		}
		dependents := dependent.FindAllStringSubmatch(err.Error(), -1)
		if dependents == nil {
			panic(err)
		}
		for _, found := range dependents {
			config.Gates[found[1]] = false
		}
	}
}

// markedField is a field of a gate in a type.
type markedField struct {
	field string   // v1.PodSpec.HostnameOverride
	keys  []string // of the fields on the path: k8s.io/api/core/v1.PodSpec.HostnameOverride
	typ   reflect.Type
	names []string // the JSON names of the path
	index [][]int  // of the fields in their structs
}

// markedFields returns the fields of a gate that a type leads to.
func markedFields(root reflect.Type, gate string, m markers) []markedField {
	return fieldsOf(root, func(field string, _ reflect.StructField) bool { return slices.Contains(m.gatesOf(field), gate) })
}

// fieldsOf returns the selected fields that a type leads to. Recursive types are entered once.
func fieldsOf(root reflect.Type, selected func(key string, f reflect.StructField) bool) []markedField {
	var list []markedField
	var visit func(t reflect.Type, at markedField, above []reflect.Type)
	visit = func(t reflect.Type, at markedField, above []reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || slices.Contains(above, t) || !strings.HasPrefix(t.PkgPath(), "k8s.io/api/") {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			key := t.PkgPath() + "." + t.Name() + "." + f.Name
			here := markedField{index: append(slices.Clip(at.index), []int{i}), names: at.names, keys: append(slices.Clip(at.keys), key)}
			if name != "" {
				here.names = append(slices.Clip(at.names), name)
			}
			if selected(key, f) {
				here.field, here.typ = t.String()+"."+f.Name, f.Type
				list = append(list, here)
			}
			visit(f.Type, here, append(slices.Clip(above), t))
		}
	}
	visit(root, markedField{}, nil)
	return list
}

// set gives the object a value of the field.
func (f markedField) set(v reflect.Value) { setAt(v, f.index) }

func setAt(v reflect.Value, path [][]int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		setAt(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAt(v.Index(0), path)
	case reflect.Map:
		key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		setAt(item, path)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, item)
	case reflect.Struct:
		if len(path) > 0 {
			setAt(v.FieldByIndex(path[0]), path[1:])
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	}
}

// isSet reports whether the object has the field.
func (f markedField) isSet(v reflect.Value) bool { return isSetAt(v, f.index) }

func isSetAt(v reflect.Value, path [][]int) bool {
	if len(path) == 0 {
		return !v.IsZero()
	}
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && isSetAt(v.Elem(), path)
	case reflect.Slice:
		return v.Len() > 0 && isSetAt(v.Index(0), path)
	case reflect.Map:
		for items := v.MapRange(); items.Next(); {
			return isSetAt(items.Value(), path)
		}
		return false
	default:
		return isSetAt(v.FieldByIndex(path[0]), path[1:])
	}
}
