package typed

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// metadata is the type of metadata, to which models refer.
const metadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// NewCustom returns a converter for kinds with models of OpenAPI 3 in place of Go types. Models may
// refer to the type of metadata. With preserve, fields that are in no model are accepted.
func NewCustom(models map[schema.GroupVersionKind]*spec.Schema, preserve bool) (*Converter, error) {
	c := &Converter{scheme: runtime.NewScheme(), types: newLibrary()}
	named := map[string]*spec.Schema{}
	for kind, model := range models {
		named[kind.String()] = model
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(named, preserve)
	if err != nil {
		return nil, fmt.Errorf("types of custom resources: %w", err)
	}
	common, err := c.types.closure(metadata)
	if err != nil {
		return nil, err
	}
	types := &smd.Schema{Types: withoutAnything(converted.Types)}
	types.Types = append(types.Types, common...)
	for kind := range models {
		name := kind.String()
		c.kinds.Store(kind, typed.ParseableType{Schema: types, TypeRef: smd.TypeRef{NamedType: &name}})
	}
	return c, nil
}

// withoutAnything removes the types that every schema has.
func withoutAnything(types []smd.TypeDef) []smd.TypeDef {
	var own []smd.TypeDef
	for _, t := range types {
		if _, common := anything[t.Name]; !common {
			own = append(own, t)
		}
	}
	return own
}
