package crd

import (
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// version is one version of a custom resource. It is the codec of its objects.
type version struct {
	*definition
	name        string
	spec        *apiextensionsv1.CustomResourceDefinitionVersion
	deprecation string // the warning, "" for none

	// The fields below are compiled on first use.

	// structure is the structural schema, nil for none: every field is allowed.
	structure func() (*structuralschema.Structural, error)
	features  func() schemaFeatures
	// validator validates objects against the schema, statusValidator their status.
	validator, statusValidator func() (validation.SchemaValidator, error)
	// rules are the CEL rules of the schema, nil for none.
	rules      func() *cel.Validator
	selectors  func() []selector
	schemaOnce func() (*apiextensions.JSONSchemaProps, error)
}

func newVersion(d *definition, spec *apiextensionsv1.CustomResourceDefinitionVersion, all []apiextensionsv1.CustomResourceDefinitionVersion) *version {
	v := &version{definition: d, name: spec.Name, spec: spec}
	if spec.Deprecated {
		v.deprecation = deprecationOf(d, spec, all)
	}
	v.schemaOnce = sync.OnceValues(func() (*apiextensions.JSONSchemaProps, error) { return internalSchema(spec) })
	v.structure = sync.OnceValues(v.compileStructure)
	v.features = sync.OnceValue(func() schemaFeatures {
		structure, _ := v.structure()
		return featuresOf(structure)
	})
	v.validator = sync.OnceValues(func() (validation.SchemaValidator, error) {
		props, err := v.schemaOnce()
		return compileValidator(props, err)
	})
	v.statusValidator = sync.OnceValues(func() (validation.SchemaValidator, error) {
		props, err := v.schemaOnce()
		return compileValidator(statusOf(props), err)
	})
	v.rules = sync.OnceValue(func() *cel.Validator {
		structure, err := v.structure()
		if err != nil || structure == nil {
			return nil
		}
		return cel.NewValidator(structure, true, celconfig.PerCallLimit)
	})
	v.selectors = sync.OnceValue(v.compileSelectors)
	return v
}

func (v *version) kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: v.group, Version: v.name, Kind: v.names.Kind}
}

func (v *version) apiVersion() string { return v.group + "/" + v.name }

// internalSchema returns the schema in the internal version of the library, nil for none.
func internalSchema(spec *apiextensionsv1.CustomResourceDefinitionVersion) (*apiextensions.JSONSchemaProps, error) {
	if spec.Schema == nil {
		return nil, nil
	}
	internal := &apiextensions.CustomResourceValidation{}
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(spec.Schema.DeepCopy(), internal, nil)
	return internal.OpenAPIV3Schema, err
}

func (v *version) compileStructure() (*structuralschema.Structural, error) {
	props, err := v.schemaOnce()
	if err != nil || props == nil {
		return nil, err
	}
	structure, err := structuralschema.NewStructural(props)
	if v.preserve {
		return structure, nil
	}
	if err != nil {
		return nil, err
	}
	structure = structure.DeepCopy() // defaults are shared with the schema
	return structure, defaulting.PruneDefaults(structure)
}

func compileValidator(props *apiextensions.JSONSchemaProps, err error) (validation.SchemaValidator, error) {
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	return validator, err
}

// statusOf returns the schema of the status, nil if there is none.
func statusOf(props *apiextensions.JSONSchemaProps) *apiextensions.JSONSchemaProps {
	if props == nil {
		return nil
	}
	if status, ok := props.Properties["status"]; ok {
		return &status
	}
	return nil
}

// content returns the fields of an object. They are shared with it.
func content(obj runtime.Object) map[string]any {
	return obj.(*unstructured.Unstructured).Object
}
