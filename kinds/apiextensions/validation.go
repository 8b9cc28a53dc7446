package apiextensions

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// The rules are those of apiextensions-apiserver, which knows the internal
// version only.

func validateDefinition(ctx context.Context, obj runtime.Object) field.ErrorList {
	definition, err := internal(obj)
	if err != nil {
		return unreadable(err)
	}
	return validation.ValidateCustomResourceDefinition(ctx, definition)
}

func validateDefinitionUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return compare(ctx, obj, old, validation.ValidateCustomResourceDefinitionUpdate)
}

func validateDefinitionStatus(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return compare(ctx, obj, old, validation.ValidateUpdateCustomResourceDefinitionStatus)
}

type comparison func(ctx context.Context, definition, before *apiextensions.CustomResourceDefinition) field.ErrorList

func compare(ctx context.Context, obj, old runtime.Object, validate comparison) field.ErrorList {
	definition, err := internal(obj)
	if err != nil {
		return unreadable(err)
	}
	before, err := internal(old)
	if err != nil {
		return unreadable(err)
	}
	return validate(ctx, definition, before)
}

// internal shares memory with what it was made of: neither may be written to.
func internal(obj runtime.Object) (*apiextensions.CustomResourceDefinition, error) {
	definition := &apiextensions.CustomResourceDefinition{}
	return definition, conversions().Convert(obj, definition, nil)
}

func unreadable(err error) field.ErrorList {
	return field.ErrorList{field.Invalid(field.NewPath("spec"), "", err.Error())}
}

// warnings are of what schemas ask for in vain, as far as the definition did not
// do so before.
func warnings(obj, old runtime.Object) []string {
	before := map[string]bool{}
	if old != nil {
		for _, text := range vainWishes(old) {
			before[text] = true
		}
	}
	return slices.DeleteFunc(vainWishes(obj), func(text string) bool { return before[text] })
}

// vainWishes: formats that nobody checks, and sets of what cannot be compared.
func vainWishes(obj runtime.Object) []string {
	definition, err := internal(obj)
	if err != nil {
		return nil
	}
	var formats, sets []string
	look := func(props *apiextensions.JSONSchemaProps) bool {
		if props.Format != "" {
			formats = append(formats, unknownFormats(props)...)
		}
		if props.XListType != nil && *props.XListType == "set" && props.Items != nil && props.Items.Schema != nil {
			if t := props.Items.Schema.Type; t == "object" || t == "array" {
				sets = append(sets, fmt.Sprintf(
					"x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", t))
			}
		}
		return false
	}
	for _, schema := range schemas(definition) {
		validation.SchemaHas(schema, look)
	}
	slices.Sort(sets)
	return append(formats, slices.Compact(sets)...)
}

func unknownFormats(props *apiextensions.JSONSchemaProps) []string {
	schema := &spec.Schema{SchemaProps: spec.SchemaProps{Format: props.Format, Type: []string{props.Type}}}
	var texts []string
	for _, format := range apiservervalidation.GetUnrecognizedFormats(schema, environment.DefaultCompatibilityVersion()) {
		texts = append(texts, fmt.Sprintf("unrecognized format %q", format))
	}
	return texts
}

// schemas of all versions: one that all share stands at the top.
func schemas(definition *apiextensions.CustomResourceDefinition) []*apiextensions.JSONSchemaProps {
	var list []*apiextensions.JSONSchemaProps
	add := func(v *apiextensions.CustomResourceValidation) {
		if v != nil && v.OpenAPIV3Schema != nil {
			list = append(list, v.OpenAPIV3Schema)
		}
	}
	add(definition.Spec.Validation)
	for i := range definition.Spec.Versions {
		add(definition.Spec.Versions[i].Schema)
	}
	return list
}
