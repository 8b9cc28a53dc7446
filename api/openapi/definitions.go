package openapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:generate go -C gen run . ../definitions.json.gz

// compressed is made by gen/ from the module versions in go.mod.
//
//go:embed definitions.json.gz
var compressed []byte

// definition is the schema of one type in both versions. They are JSON objects
// without insignificant space, and must not be written to.
type definition struct {
	V2   json.RawMessage `json:"v2"`
	V3   json.RawMessage `json:"v3"`
	Deps []string        `json:"deps"` // names of the definitions it refers to
}

// definitions are the schemas of all built-in types by name.
var definitions = sync.OnceValues(func() (map[string]definition, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("embedded OpenAPI definitions: %w", err)
	}
	var all map[string]definition
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		return nil, fmt.Errorf("embedded OpenAPI definitions: %w", err)
	}
	return all, nil
})

// modelName is what the type of an object is called in OpenAPI, "" for one that
// has no definition.
func modelName(obj any) string {
	if named, ok := obj.(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return ""
}

func compareKinds(a, b schema.GroupVersionKind) int {
	return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
}

// closure returns names and everything that they refer to, sorted.
func closure(all map[string]definition, names []string) []string {
	seen := map[string]bool{}
	var found []string
	for todo := slices.Clone(names); len(todo) > 0; {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := all[name]; !known || seen[name] {
			continue
		}
		seen[name] = true
		found = append(found, name)
		todo = append(todo, all[name].Deps...)
	}
	slices.Sort(found)
	return found
}

// withKinds adds to a schema the kinds that its type is known as.
func withKinds(body json.RawMessage, kinds []schema.GroupVersionKind) pieces {
	if len(kinds) == 0 {
		return pieces{body}
	}
	var list []groupVersionKind
	for _, gvk := range kinds {
		list = append(list, groupVersionKind(gvk))
	}
	return pieces{body[:len(body)-len("}")], []byte(`,"x-kubernetes-group-version-kind":`), encode(list), []byte("}")}
}

// groupVersionKind is a kind as the extension writes it.
type groupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}
