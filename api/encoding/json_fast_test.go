package encoding

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// generator makes random JSON documents for Go types.
type generator struct {
	*rand.Rand
	// odd is the probability of a value of another type, and of an unusual field name.
	odd float64
}

var (
	oddValues = []string{
		`null`, `0`, `-0`, `1.0`, `1e2`, `9223372036854775808`, `1e400`, `""`, `"x"`, `"5"`, `"\u0041\ud83d\ude00"`, `"\ud800"`,
		"\"\xff\"", `true`, `[]`, `[null]`, `["x",1]`, `{}`, `{"a":null}`, `{"a":1,"a":2}`, `"aGk="`, `"a\nGk="`, `"aGk"`, `x`, `[1,]`,
	}
	// textsOfTypes are values of types that decode themselves.
	textsOfTypes = []string{
		`null`, `""`, `5`, `-1`, `1.5`, `"5"`, `"1Gi"`, `"50%"`, `"1h"`, `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.123456Z"`,
		`{"f:a":{}}`, `{"kind":"A","apiVersion":"v1"}`, `{"type":"string"}`, `["a"]`, `true`,
	}
	texts = []string{`""`, `"a"`, `"b\"\\\u00e9"`, `"é"`, `"a longer text <&>"`, `"\u2028"`}
)

func (g *generator) pick(values []string) string { return values[g.IntN(len(values))] }

func (g *generator) value(t reflect.Type, depth int) string {
	switch {
	case g.Float64() < g.odd:
		return g.pick(oddValues)
	case decodesItself(t):
		return g.pick(textsOfTypes)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem(), depth)
	case reflect.Struct:
		return g.object(t, depth)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return g.pick([]string{`""`, `"aGk="`, `"AA=="`})
		}
		return "[" + g.join(depth, func(int) string { return g.value(t.Elem(), depth-1) }) + "]"
	case reflect.Map:
		return "{" + g.join(depth, func(i int) string {
			return fmt.Sprintf(`"k%d": %s`, i, g.value(t.Elem(), depth-1))
		}) + "}"
	case reflect.String:
		return g.pick(texts)
	case reflect.Bool:
		return g.pick([]string{"true", "false"})
	case reflect.Float32, reflect.Float64:
		return g.pick([]string{"0", "-1.5", "1e3"})
	default:
		return g.pick([]string{"0", "1", "7"})
	}
}

// join makes up to two members, and none below the greatest depth.
func (g *generator) join(depth int, member func(i int) string) string {
	var members []string
	for i := range g.IntN(3) {
		if depth > 0 {
			members = append(members, member(i))
		}
	}
	return strings.Join(members, ",")
}

func (g *generator) object(t reflect.Type, depth int) string {
	members := g.members(t, depth)
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	if len(members) > 0 && g.Float64() < g.odd {
		members = append(members, members[0]) // a duplicate
	}
	return "{" + strings.Join(members, " , ") + "}"
}

func (g *generator) members(t reflect.Type, depth int) []string {
	var members []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct && !decodesItself(f.Type):
			members = append(members, g.members(f.Type, depth)...)
		case name == "apiVersion" || name == "kind" || depth > 0 && g.IntN(3) == 0:
			if name == "" {
				name = f.Name
			}
			if g.Float64() < g.odd {
				name = g.pick([]string{strings.ToUpper(name), name + "x", `\u00` + fmt.Sprintf("%x", name[0]) + name[1:]})
			}
			members = append(members, `"`+name+`": `+g.value(f.Type, depth-1))
		}
	}
	return members
}

// document makes a document of a kind, mostly with the kind.
func (g *generator) document(kind schema.GroupVersionKind, t reflect.Type) []byte {
	text := g.object(t, 8)
	if g.Float64() >= g.odd {
		header := TypeHeader(kind)
		if g.IntN(4) == 0 {
			header.APIVersion, header.Kind = "", ""
		}
		text = replaceMember(text, "apiVersion", header.APIVersion)
		text = replaceMember(text, "kind", header.Kind)
	}
	return []byte(text)
}

// replaceMember sets a member of the outermost object that is a string.
func replaceMember(document, name, value string) string {
	for _, text := range texts {
		member := fmt.Sprintf("%q: ", name)
		if before, after, ok := strings.Cut(document, member+text); ok {
			return before + member + fmt.Sprintf("%q", value) + after
		}
	}
	return document
}

// compareDecoders compares the results of a fastDecoder and of its Serializer.
func compareDecoders(t *testing.T, fast fastDecoder, document []byte, kind schema.GroupVersionKind) {
	t.Helper()
	wantInto, into := newObject(t, kind), newObject(t, kind)
	want, wantKind, wantErr := fast.Serializer.Decode(document, &kind, wantInto)
	got, gotKind, err := fast.Decode(document, &kind, into)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(gotKind, wantKind) {
		t.Errorf("%s\nis %v, %v\nwant %v, %v", document, gotKind, err, wantKind, wantErr)
	}
	if !reflect.DeepEqual(got, want) || got != nil && (got == into) != (want == wantInto) {
		t.Errorf("%s (-want +got):\n%s", document, cmp.Diff(want, got))
	}
}

func newObject(t *testing.T, kind schema.GroupVersionKind) runtime.Object {
	t.Helper()
	obj, err := scheme.Scheme.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestFastDecoder(t *testing.T) {
	for _, strict := range []bool{false, true} {
		fast := jsonDecoder(scheme.Scheme, strict).(fastDecoder)
		for kind, goType := range scheme.Scheme.AllKnownTypes() {
			if _, hasHeader := newObject(t, kind).GetObjectKind().(*metav1.TypeMeta); !hasHeader {
				continue // an event of a watch
			}
			g := &generator{Rand: rand.New(rand.NewPCG(1, 2))}
			isFast := false
			for range 20 {
				g.odd = 0
				regular := g.document(kind, goType)
				isFast = fast.decode(regular, kind, newObject(t, kind)) || isFast
				compareDecoders(t, fast, regular, kind)
				g.odd = g.Float64() / 20
				compareDecoders(t, fast, g.document(kind, goType), kind)
			}
			if !isFast {
				t.Errorf("%s is never decoded the fast way", kind)
			}
		}
	}
}

func TestTypesThatAreNotDecodedFast(t *testing.T) {
	type tree struct {
		Children map[string][]*tree `json:"children"`
		Hidden   any                `json:"-"`
	}
	for _, c := range []struct {
		value any
		want  bool
	}{
		{tree{}, true},
		{struct{ Times []metav1.Duration }{}, true},
		{struct{ Any map[string]any }{}, false},
		{struct{ Nested []struct{ D time.Duration } }{}, false},
		{struct{ Array *[2]byte }{}, false},
		{struct {
			Quoted int `json:"quoted,string"`
		}{}, false},
	} {
		if got := new(decodableTypes).isDecodable(reflect.TypeOf(c.value)); got != c.want {
			t.Errorf("%T: %t, want %t", c.value, got, c.want)
		}
	}
}

// FuzzFastDecoder decodes documents of a Deployment.
func FuzzFastDecoder(f *testing.F) {
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	g := &generator{Rand: rand.New(rand.NewPCG(3, 4)), odd: 0.01}
	for range 20 {
		f.Add(g.document(kind, scheme.Scheme.AllKnownTypes()[kind]))
	}
	strict, lax := jsonDecoder(scheme.Scheme, true).(fastDecoder), jsonDecoder(scheme.Scheme, false).(fastDecoder)
	f.Fuzz(func(t *testing.T, document []byte) {
		if json.Valid(document) && CheckDepth(document) != nil {
			return
		}
		compareDecoders(t, strict, document, kind)
		compareDecoders(t, lax, document, kind)
	})
}
