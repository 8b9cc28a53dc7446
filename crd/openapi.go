package crd

import (
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// metadataModel is the name of ObjectMeta in OpenAPI documents.
const metadataModel = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// Extensions of OpenAPI schemas.
const (
	kindExtension      = "x-kubernetes-group-version-kind"
	fieldsExtension    = "x-kubernetes-selectable-fields"
	embeddedExtension  = "x-kubernetes-embedded-resource"
	preservesExtension = "x-kubernetes-preserve-unknown-fields"
)

// model returns the OpenAPI schema of the version. Version 2 has no defaults, and a schema that
// preserves unknown fields is only an object there: kubectl would reject the unknown fields.
func (v *version) model(v2 bool) (*spec.Schema, error) {
	structure, err := v.published()
	if err != nil {
		return nil, err
	}
	m := modeler{v2: v2}
	model := m.model(structure, v.preserve)
	kind := v.kind()
	model.AddExtension(kindExtension, []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}})
	if selectable := v.spec.SelectableFields; len(selectable) > 0 {
		var paths []any
		for _, f := range selectable {
			paths = append(paths, map[string]any{"fieldPath": fieldName(f.JSONPath)})
		}
		model.AddExtension(fieldsExtension, paths)
	}
	return model, nil
}

// published returns the schema to publish, nil for none and for one that is not structural.
func (v *version) published() (*structuralschema.Structural, error) {
	props, err := v.schemaOnce()
	if err != nil || props == nil {
		return nil, err
	}
	structure, err := structuralschema.NewStructural(props)
	if err != nil || len(structuralschema.ValidateStructural(nil, structure)) > 0 {
		return nil, nil
	}
	return structure.Unfold(), nil
}

// modeler builds schemas for one version of OpenAPI.
type modeler struct{ v2 bool }

func (m modeler) model(structure *structuralschema.Structural, preserves bool) *spec.Schema {
	if structure == nil || m.v2 && (structure.XPreserveUnknownFields || preserves) {
		return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	}
	if m.v2 {
		structure = openapiv2.ToStructuralOpenAPIV2(structure)
		withoutDefaults.Visit(structure)
	}
	model := structure.ToKubeOpenAPI()
	docs := metav1.TypeMeta{}.SwaggerDoc()
	m.addHeader(model, docs["apiVersion"], docs["kind"])
	m.describeEmbedded(model)
	return model
}

// withoutDefaults removes all defaults. Version 2 has none, for built-in kinds either.
var withoutDefaults = structuralschema.Visitor{
	Structural: func(structure *structuralschema.Structural) bool {
		structure.Default = structuralschema.JSON{}
		return true
	},
}

// addHeader adds apiVersion, kind and metadata.
func (m modeler) addHeader(model *spec.Schema, apiVersion, kind string) {
	model.SetProperty("apiVersion", *spec.StringProperty().WithDescription(apiVersion))
	model.SetProperty("kind", *spec.StringProperty().WithDescription(kind))
	model.SetProperty("metadata", m.metadata())
}

func (m modeler) metadata() spec.Schema {
	const text = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
	if m.v2 {
		return *spec.RefSchema("#/definitions/" + metadataModel).WithDescription(text)
	}
	reference := *spec.RefSchema("#/components/schemas/" + metadataModel)
	return *(&spec.Schema{}).WithAllOf(reference).WithDescription(text)
}

// describeEmbedded adds apiVersion, kind and metadata to embedded objects.
func (m modeler) describeEmbedded(model *spec.Schema) {
	if model == nil {
		return
	}
	for name, property := range model.Properties {
		m.describeEmbedded(&property)
		model.Properties[name] = property
	}
	if model.Items != nil {
		m.describeEmbedded(model.Items.Schema)
	}
	if model.AdditionalProperties != nil {
		m.describeEmbedded(model.AdditionalProperties.Schema)
	}
	preserves, _ := model.Extensions.GetBool(preservesExtension)
	embedded, _ := model.Extensions.GetBool(embeddedExtension)
	if !embedded || m.v2 && preserves {
		return
	}
	const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
	m.addHeader(model,
		"apiVersion defines the versioned schema of this representation of an object. More info: "+conventions+"#resources",
		"kind is a string value representing the type of this object. In CamelCase. More info: "+conventions+"#types-kinds")
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(model.Required, name) {
			model.Required = append(model.Required, name)
		}
	}
}
