package apiextensions

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// warnings returns the warnings about fields without effect that the old definition, which may be
// nil, did not have.
func warnings(definition, old *apiextensionsv1.CustomResourceDefinition) []string {
	before := map[string]bool{}
	if old != nil {
		for _, text := range ineffectiveFields(old) {
			before[text] = true
		}
	}
	return slices.DeleteFunc(ineffectiveFields(definition), func(text string) bool { return before[text] })
}

// ineffectiveFields returns warnings about formats that are not validated, and about sets whose
// items cannot be compared.
func ineffectiveFields(definition *apiextensionsv1.CustomResourceDefinition) []string {
	var formats, sets []string
	all(definition, func(props *apiextensionsv1.JSONSchemaProps) bool {
		if props.Format != "" {
			formats = append(formats, unknownFormats(props)...)
		}
		if props.XListType != nil && *props.XListType == "set" && props.Items != nil && props.Items.Schema != nil {
			if t := props.Items.Schema.Type; t == "object" || t == "array" {
				sets = append(sets, fmt.Sprintf(
					"x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", t))
			}
		}
		return true
	})
	slices.Sort(sets)
	return append(formats, slices.Compact(sets)...)
}

func unknownFormats(props *apiextensionsv1.JSONSchemaProps) []string {
	schema := &spec.Schema{SchemaProps: spec.SchemaProps{Format: props.Format, Type: []string{props.Type}}}
	var texts []string
	for _, format := range apiservervalidation.GetUnrecognizedFormats(schema, environment.DefaultCompatibilityVersion()) {
		texts = append(texts, fmt.Sprintf("unrecognized format %q", format))
	}
	return texts
}
