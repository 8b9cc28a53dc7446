package typed

import (
	_ "embed"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

//go:generate go -C ../../api/openapi/gen run ./types ../definitions.json.gz ../../../kinds/typed/types.txt

//go:embed types.txt
var text string

// lines maps the name of a type to its line in types.txt.
var lines = sync.OnceValue(func() map[string]string {
	found := make(map[string]string, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		name, notation, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		found[name] = notation
	}
	return found
})

// definition is a type and the names of the types that it refers to.
type definition struct {
	schema.TypeDef
	uses []string
}

// library holds the parsed types. All kinds share them.
type library struct {
	mu    sync.Mutex // guards known
	known map[string]definition
}

// closure returns a type and all types that it refers to.
func (l *library) closure(name string) ([]schema.TypeDef, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := map[string]bool{name: true}
	names := []string{name}
	var types []schema.TypeDef
	for i := 0; i < len(names); i++ {
		d, err := l.find(names[i])
		if err != nil {
			return nil, err
		}
		types = append(types, d.TypeDef)
		for _, used := range d.uses {
			if !seen[used] {
				seen[used] = true
				names = append(names, used)
			}
		}
	}
	return types, nil
}

// find requires mu to be held.
func (l *library) find(name string) (definition, error) {
	if d, ok := l.known[name]; ok {
		return d, nil
	}
	d, err := parse(name, lines()[name])
	if err != nil {
		return definition{}, err
	}
	l.known[name] = d
	return d, nil
}

// The names of the types of arbitrary values, which are the same in all schemas.
const (
	untypedName = "__untyped_atomic_"
	deducedName = "__untyped_deduced_"
)

// anything is a scalar, a list or an object, either atomic or granular.
var anything = map[string]schema.Atom{
	untypedName: anythingOf(untypedName, schema.Atomic),
	deducedName: anythingOf(deducedName, schema.Separable),
}

func anythingOf(fields string, relationship schema.ElementRelationship) schema.Atom {
	return schema.Atom{
		Scalar: new(schema.Untyped),
		List:   &schema.List{ElementType: named(untypedName), ElementRelationship: schema.Atomic},
		Map:    &schema.Map{ElementType: named(fields), ElementRelationship: relationship},
	}
}

func named(name string) schema.TypeRef { return schema.TypeRef{NamedType: &name} }

func newLibrary() *library {
	l := &library{known: map[string]definition{}}
	for name, atom := range anything {
		l.known[name] = definition{TypeDef: schema.TypeDef{Name: name, Atom: atom}, uses: []string{untypedName}}
	}
	return l
}
