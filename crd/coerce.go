package crd

import (
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
)

// coercion says how an object is brought into the form of its version.
type coercion struct {
	// report asks for the paths of the fields that are dropped.
	report bool
	// repair drops what is malformed in the metadata, and counts the generation
	// from one, for what may have been stored by an old release.
	repair bool
}

// coerce does to an object what decoding into a Go type would do: fields that
// the schema does not know are dropped, and nulls where none may be.
func (v *version) coerce(object map[string]any, how coercion) (unknown []string, err error) {
	structure, err := v.structure()
	if err != nil {
		return nil, err
	}
	if unknown, err = coerceMetadata(object, how); err != nil {
		return nil, err
	}
	if !v.preserve {
		options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: how.report}
		unknown = append(unknown, pruning.PruneWithOptions(object, structure, true, options)...)
		if hasNull(object) {
			defaulting.PruneNonNullableNullsWithoutDefaults(object, structure)
		}
	}
	if !v.traits().embedded {
		return unknown, nil
	}
	fault, more := objectmeta.CoerceWithOptions(nil, object, structure, false, objectmeta.CoerceOptions{
		DropInvalidFields: how.repair, ReturnUnknownFieldPaths: how.report,
	})
	if fault != nil {
		return nil, fault
	}
	return append(unknown, more...), nil
}

func hasNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, item := range value {
			if hasNull(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, hasNull)
	}
	return false
}

// prune is the coercion of what clients send. It is nobody's fault but theirs.
func (v *version) prune(obj runtime.Object) (unknown []string, err error) {
	return v.coerce(content(obj), coercion{report: true})
}

// fill sets the defaults of the schema.
func (v *version) fill(obj runtime.Object) { v.fillContent(content(obj)) }

func (v *version) fillContent(object map[string]any) {
	if structure, err := v.structure(); err == nil && v.traits().defaults {
		defaulting.Default(object, structure)
	}
}
