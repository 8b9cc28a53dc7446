package openapi

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/weakmap"
)

// library holds the definitions of the types in a scheme, with their kinds. Safe for concurrent
// use.
type library struct {
	scheme *runtime.Scheme
	// kinds returns the sorted kinds of each definition.
	kinds func() map[string][]schema.GroupVersionKind
	// excerpts holds the definitions of version 2 by name.
	excerpts sync.Map
}

// libraries holds the library of each scheme.
var libraries weakmap.Map[*runtime.Scheme, library]

func libraryOf(scheme *runtime.Scheme) *library {
	return libraries.Of(scheme, func() *library {
		l := &library{scheme: scheme}
		l.kinds = sync.OnceValue(l.collectKinds)
		return l
	})
}

func (l *library) collectKinds() map[string][]schema.GroupVersionKind {
	kinds := map[string][]schema.GroupVersionKind{}
	for gvk, t := range l.scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		name := modelName(reflect.New(t).Interface())
		if name == "" || decodesAlso(name, gvk.Version) {
			continue
		}
		kinds[name] = append(kinds[name], gvk)
	}
	for _, list := range kinds {
		slices.SortFunc(list, compareKinds)
	}
	return kinds
}

// decodesAlso reports whether a model of one version of an API also decodes another version.
func decodesAlso(model, version string) bool {
	return strings.HasPrefix(model, "io.k8s.api.") && !strings.Contains(model, "."+version+".")
}

// newObject returns an object of a kind, nil for an unknown kind.
func (l *library) newObject(kind schema.GroupVersionKind) any {
	obj, err := l.scheme.New(kind)
	if err != nil {
		return nil
	}
	return obj
}

// excerpt returns a definition for the document of version 2.
func (l *library) excerpt(all map[string]definition, name string) *excerpt {
	if known, ok := l.excerpts.Load(name); ok {
		return known.(*excerpt)
	}
	var s sections
	s.definitions.set(name, withKinds(all[name].V2, l.kinds()[name])...)
	known, _ := l.excerpts.LoadOrStore(name, newExcerpt(s))
	return known.(*excerpt)
}
