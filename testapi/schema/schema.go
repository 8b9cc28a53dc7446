// Package schema describes the Go types of the test APIs in OpenAPI. A field has its JSON name, and
// its description in the tag doc.
package schema

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// metadataModel is the name of ObjectMeta in OpenAPI documents.
const metadataModel = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// OfKind returns the schema of a kind with apiVersion, kind, metadata and the fields of a Go type.
// It is a registry.Version.Model.
func OfKind(kind schema.GroupVersionKind, description string, content reflect.Type) func(v2 bool) (*spec.Schema, error) {
	return func(v2 bool) (*spec.Schema, error) {
		model := ofType(content)
		model.Description = description
		docs := metav1.TypeMeta{}.SwaggerDoc()
		model.SetProperty("apiVersion", *spec.StringProperty().WithDescription(docs["apiVersion"]))
		model.SetProperty("kind", *spec.StringProperty().WithDescription(docs["kind"]))
		model.SetProperty("metadata", metadata(v2))
		model.AddExtension("x-kubernetes-group-version-kind", []any{
			map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
		})
		return model, nil
	}
}

func metadata(v2 bool) spec.Schema {
	if v2 {
		return *spec.RefSchema("#/definitions/" + metadataModel)
	}
	return *(&spec.Schema{}).WithAllOf(*spec.RefSchema("#/components/schemas/" + metadataModel))
}

// ofType returns the schema of a Go type.
func ofType(t reflect.Type) *spec.Schema {
	if isText(t) {
		return spec.StringProperty()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return ofType(t.Elem())
	case reflect.Struct:
		model := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
		for i := range t.NumField() {
			field := t.Field(i)
			if name := jsonName(field); name != "-" {
				model.SetProperty(name, *ofType(field.Type).WithDescription(field.Tag.Get("doc")))
			}
		}
		return model
	case reflect.Slice:
		return spec.ArrayProperty(ofType(t.Elem()))
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return spec.Int64Property()
	case reflect.Float64:
		return spec.Float64Property()
	case reflect.Bool:
		return spec.BoolProperty()
	default:
		return spec.StringProperty()
	}
}
