package crd

import (
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
)

// pruneOptions are the options of pruning.
type pruneOptions struct {
	// report returns the paths of the removed fields.
	report bool
	// repair removes malformed fields of the metadata and sets a missing generation to 1. It is for
	// stored objects, which an old release may have written.
	repair bool
}

// pruneContent removes unknown fields, and nulls that the schema does not allow, as decoding into a
// Go type would.
func (v *version) pruneContent(object map[string]any, opts pruneOptions) (unknown []string, err error) {
	structure, err := v.structure()
	if err != nil {
		return nil, err
	}
	if unknown, err = pruneMetadata(object, opts); err != nil {
		return nil, err
	}
	if !v.preserve {
		options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: opts.report}
		unknown = append(unknown, pruning.PruneWithOptions(object, structure, true, options)...)
		if hasNull(object) {
			defaulting.PruneNonNullableNullsWithoutDefaults(object, structure)
		}
	}
	if !v.features().embedded {
		return unknown, nil
	}
	fieldErr, more := objectmeta.CoerceWithOptions(nil, object, structure, false, objectmeta.CoerceOptions{
		DropInvalidFields: opts.repair, ReturnUnknownFieldPaths: opts.report,
	})
	if fieldErr != nil {
		return nil, fieldErr
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

// prune prunes the object of a request. It returns the paths of the removed fields.
func (v *version) prune(obj runtime.Object) (unknown []string, err error) {
	return v.pruneContent(content(obj), pruneOptions{report: true})
}

// setDefaults sets the defaults of the schema.
func (v *version) setDefaults(obj runtime.Object) { v.defaultContent(content(obj)) }

func (v *version) defaultContent(object map[string]any) {
	if structure, err := v.structure(); err == nil && v.features().defaults {
		defaulting.Default(object, structure)
	}
}
