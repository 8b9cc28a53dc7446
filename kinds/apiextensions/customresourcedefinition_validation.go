package apiextensions

import (
	"context"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules are those of apiextensions-apiserver, which validates the internal version only.

func validateDefinition(ctx context.Context, obj runtime.Object) field.ErrorList {
	definition, err := internal(obj)
	if err != nil {
		return conversionError(err)
	}
	errs := dropUnstructuredSelectableFields(definition)
	return append(errs, validation.ValidateCustomResourceDefinition(ctx, definition)...)
}

// dropUnstructuredSelectableFields removes selectable fields from a version whose schema is not
// structural, and returns an error for each: apiextensions-apiserver would panic. It finds all
// other errors of the schema itself.
func dropUnstructuredSelectableFields(definition *apiextensions.CustomResourceDefinition) field.ErrorList {
	path, spec := field.NewPath("spec"), &definition.Spec
	var errs field.ErrorList
	look := func(selection *[]apiextensions.SelectableField, schema *apiextensions.CustomResourceValidation, path *field.Path) {
		if len(*selection) == 0 || schema == nil || schema.OpenAPIV3Schema == nil {
			return
		}
		if _, err := structuralschema.NewStructural(schema.OpenAPIV3Schema); err != nil {
			errs = append(errs, field.Invalid(path.Child("schema", "openAPIV3Schema"), "", err.Error()))
			*selection = nil
		}
	}
	spec.Versions = slices.Clone(spec.Versions)
	for i := range spec.Versions {
		look(&spec.Versions[i].SelectableFields, spec.Versions[i].Schema, path.Child("versions").Index(i))
	}
	look(&spec.SelectableFields, spec.Validation, path)
	return errs
}

func validateDefinitionUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return compare(ctx, obj, old, validation.ValidateCustomResourceDefinitionUpdate)
}

// validateDefinitionStatus validates metadata and status only.
func validateDefinitionStatus(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return compare(ctx, withoutSpec(obj), withoutSpec(old), validation.ValidateUpdateCustomResourceDefinitionStatus)
}

func withoutSpec(obj runtime.Object) runtime.Object {
	definition := *obj.(*apiextensionsv1.CustomResourceDefinition)
	definition.Spec = apiextensionsv1.CustomResourceDefinitionSpec{}
	return &definition
}

type comparison func(ctx context.Context, definition, before *apiextensions.CustomResourceDefinition) field.ErrorList

func compare(ctx context.Context, obj, old runtime.Object, validate comparison) field.ErrorList {
	definition, err := internal(obj)
	if err != nil {
		return conversionError(err)
	}
	before, err := internal(old)
	if err != nil {
		return conversionError(err)
	}
	errs := dropUnstructuredSelectableFields(definition)
	return append(errs, validate(ctx, definition, before)...)
}

// internal returns a definition that shares memory with obj. Neither may be written to.
func internal(obj runtime.Object) (*apiextensions.CustomResourceDefinition, error) {
	definition := &apiextensions.CustomResourceDefinition{}
	return definition, conversions().Convert(obj, definition, nil)
}

func conversionError(err error) field.ErrorList {
	return field.ErrorList{field.Invalid(field.NewPath("spec"), "", err.Error())}
}
