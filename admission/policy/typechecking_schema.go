package policy

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/miniapi/miniapi/registry"
)

// modelOf returns the schema of the objects of a version, without references. The schema of a Go
// type is derived by reflection and has only the types of the fields. The OpenAPI documents say
// the same about them but take much longer to read.
func modelOf(version registry.Version) (*spec.Schema, error) {
	if version.Model == nil {
		model := modeler{}.model(reflect.TypeOf(version.New()))
		return &model, nil
	}
	model, err := version.Model(false)
	if err != nil {
		return nil, err
	}
	resolveMetadata(model)
	return model, nil
}

// resolveMetadata replaces references by the model of ObjectMeta, the only type that models of
// custom resources refer to.
func resolveMetadata(model *spec.Schema) {
	if model == nil {
		return
	}
	if len(model.AllOf) == 1 && model.AllOf[0].Ref.GetURL() != nil {
		*model = modeler{}.model(reflect.TypeFor[metav1.ObjectMeta]())
		return
	}
	for name, property := range model.Properties {
		resolveMetadata(&property)
		model.Properties[name] = property
	}
	if model.Items != nil {
		resolveMetadata(model.Items.Schema)
	}
	if model.AdditionalProperties != nil {
		resolveMetadata(model.AdditionalProperties.Schema)
	}
}

// modeler derives models of Go types. It holds the types on the path to the current one. A type
// that contains itself is an object without fields there.
type modeler map[reflect.Type]bool

func (m modeler) model(t reflect.Type) spec.Schema {
	if t.Kind() == reflect.Pointer {
		return m.model(t.Elem())
	}
	if model, ok := declaredModel(t); ok {
		return model
	}
	switch t.Kind() {
	case reflect.Struct:
		return m.object(t)
	case reflect.Map:
		values := m.model(t.Elem())
		return *spec.MapProperty(&values)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return *spec.StrFmtProperty("byte")
		}
		items := m.model(t.Elem())
		return *spec.ArrayProperty(&items)
	case reflect.String:
		return *spec.StringProperty()
	case reflect.Bool:
		return *spec.BooleanProperty()
	case reflect.Float32, reflect.Float64:
		return *spec.Float64Property()
	case reflect.Interface:
		return spec.Schema{}
	}
	return *spec.Int64Property()
}

// declaredModel returns the model of a type that declares its OpenAPI type. The model of a type
// with several OpenAPI types has no type.
func declaredModel(t reflect.Type) (spec.Schema, bool) {
	value := reflect.New(t).Interface()
	typed, ok := value.(interface{ OpenAPISchemaType() []string })
	if !ok {
		return spec.Schema{}, false
	}
	model := spec.Schema{}
	if formatted, ok := value.(interface{ OpenAPISchemaFormat() string }); ok {
		model.Format = formatted.OpenAPISchemaFormat()
	}
	if _, several := value.(interface{ OpenAPIV3OneOfTypes() []string }); !several {
		model.Type = typed.OpenAPISchemaType()
	}
	return model, true
}

func (m modeler) object(t reflect.Type) spec.Schema {
	model := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{}}}
	if m[t] {
		return model
	}
	m[t] = true
	defer delete(m, t)
	m.addFields(&model, t)
	return model
}

func (m modeler) addFields(model *spec.Schema, t reflect.Type) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && (field.Anonymous || strings.Contains(options, "inline")):
			m.addFields(model, field.Type)
		case name != "":
			model.Properties[name] = m.model(field.Type)
		}
	}
}
