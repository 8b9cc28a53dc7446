package apiextensions

import (
	"bytes"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// all reports whether a condition holds for every schema of a definition, nested ones included. A
// schema that all versions share is visited once.
func all(definition *apiextensionsv1.CustomResourceDefinition, holds func(*apiextensionsv1.JSONSchemaProps) bool) bool {
	versions := definition.Spec.Versions
	differs := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Schema != versions[0].Schema && !equality.Semantic.DeepEqual(v.Schema, versions[0].Schema)
	}
	if !slices.ContainsFunc(versions, differs) {
		versions = versions[:min(len(versions), 1)]
	}
	for _, v := range versions {
		if v.Schema != nil && !visitor(holds).one(v.Schema.OpenAPIV3Schema) {
			return false
		}
	}
	return true
}

// visitor is called with schemas until it returns false.
type visitor func(*apiextensionsv1.JSONSchemaProps) bool

func (holds visitor) one(props *apiextensionsv1.JSONSchemaProps) bool {
	if props == nil {
		return true
	}
	return holds(props) && holds.one(props.Not) &&
		holds.list(props.AllOf) && holds.list(props.AnyOf) && holds.list(props.OneOf) &&
		holds.named(props.Properties) && holds.named(props.PatternProperties) && holds.named(props.Definitions) &&
		holds.items(props.Items) && holds.orBool(props.AdditionalItems) && holds.orBool(props.AdditionalProperties) &&
		holds.dependencies(props.Dependencies)
}

func (holds visitor) list(list []apiextensionsv1.JSONSchemaProps) bool {
	for i := range list {
		if !holds.one(&list[i]) {
			return false
		}
	}
	return true
}

func (holds visitor) named(named map[string]apiextensionsv1.JSONSchemaProps) bool {
	for _, props := range named {
		if !holds.one(&props) {
			return false
		}
	}
	return true
}

func (holds visitor) items(items *apiextensionsv1.JSONSchemaPropsOrArray) bool {
	return items == nil || holds.one(items.Schema) && holds.list(items.JSONSchemas)
}

func (holds visitor) orBool(props *apiextensionsv1.JSONSchemaPropsOrBool) bool {
	return props == nil || holds.one(props.Schema)
}

func (holds visitor) dependencies(dependencies apiextensionsv1.JSONSchemaDependencies) bool {
	for _, dependency := range dependencies {
		if !holds.one(dependency.Schema) {
			return false
		}
	}
	return true
}

// hasNormalValues reports whether the JSON values in a schema are encoded as a conversion would
// encode them: without spaces, with the keys of objects sorted.
func hasNormalValues(props *apiextensionsv1.JSONSchemaProps) bool {
	odd := func(value apiextensionsv1.JSON) bool { return !isNormal(&value) }
	return (props.Default == nil || isNormal(props.Default)) && (props.Example == nil || isNormal(props.Example)) &&
		!slices.ContainsFunc(props.Enum, odd)
}

func isNormal(value *apiextensionsv1.JSON) bool {
	var internal apiextensions.JSON
	var normal apiextensionsv1.JSON
	return apiextensionsv1.Convert_v1_JSON_To_apiextensions_JSON(value, &internal, nil) == nil && internal != nil &&
		apiextensionsv1.Convert_apiextensions_JSON_To_v1_JSON(&internal, &normal, nil) == nil && bytes.Equal(value.Raw, normal.Raw)
}
