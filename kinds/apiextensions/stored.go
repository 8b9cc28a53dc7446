package apiextensions

import (
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stored is a definition of v1beta1 whose schemas have the types of v1. Both versions encode
// schemas alike, so that the schemas, which are most of a definition, need no conversion. The
// fields have the order of v1beta1.
type stored struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   storedSpec                                          `json:"spec"`
	Status apiextensionsv1beta1.CustomResourceDefinitionStatus `json:"status,omitempty"`
}

type storedSpec struct {
	Group                    string                                                `json:"group"`
	Version                  string                                                `json:"version,omitempty"`
	Names                    apiextensionsv1beta1.CustomResourceDefinitionNames    `json:"names"`
	Scope                    apiextensionsv1beta1.ResourceScope                    `json:"scope"`
	Validation               *apiextensionsv1.CustomResourceValidation             `json:"validation,omitempty"`
	Subresources             *apiextensionsv1beta1.CustomResourceSubresources      `json:"subresources,omitempty"`
	Versions                 []storedVersion                                       `json:"versions,omitempty"`
	AdditionalPrinterColumns []apiextensionsv1beta1.CustomResourceColumnDefinition `json:"additionalPrinterColumns,omitempty"`
	SelectableFields         []apiextensionsv1beta1.SelectableField                `json:"selectableFields,omitempty"`
	Conversion               *apiextensionsv1beta1.CustomResourceConversion        `json:"conversion,omitempty"`
	PreserveUnknownFields    *bool                                                 `json:"preserveUnknownFields,omitempty"`
}

type storedVersion struct {
	Name                     string                                                `json:"name"`
	Served                   bool                                                  `json:"served"`
	Storage                  bool                                                  `json:"storage"`
	Deprecated               bool                                                  `json:"deprecated,omitempty"`
	DeprecationWarning       *string                                               `json:"deprecationWarning,omitempty"`
	Schema                   *apiextensionsv1.CustomResourceValidation             `json:"schema,omitempty"`
	Subresources             *apiextensionsv1beta1.CustomResourceSubresources      `json:"subresources,omitempty"`
	AdditionalPrinterColumns []apiextensionsv1beta1.CustomResourceColumnDefinition `json:"additionalPrinterColumns,omitempty"`
	SelectableFields         []apiextensionsv1beta1.SelectableField                `json:"selectableFields,omitempty"`
}

// schemaList holds the schemas of a definition during its conversion. Numbers take the place of the
// schemas, the same number for equal schemas: v1beta1 stores a schema that all versions share at
// the top level.
type schemaList []*apiextensionsv1.CustomResourceValidation

// number returns the number of a schema, "" for none.
func (l *schemaList) number(schema *apiextensionsv1.CustomResourceValidation) string {
	if schema == nil {
		return ""
	}
	i := slices.IndexFunc(*l, func(known *apiextensionsv1.CustomResourceValidation) bool {
		return known == schema || equality.Semantic.DeepEqual(known, schema)
	})
	if i < 0 {
		i = len(*l)
		*l = append(*l, schema)
	}
	return strconv.Itoa(i)
}

func (l schemaList) numbered(number string) *apiextensionsv1.CustomResourceValidation {
	i, err := strconv.Atoi(number)
	if err != nil {
		return nil
	}
	return l[i]
}

// placeholder returns the schema that is converted in place of a numbered one.
func placeholder(number string) *apiextensionsv1.CustomResourceValidation {
	if number == "" {
		return nil
	}
	return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{ID: number}}
}

// numberOf returns the number in a placeholder.
func numberOf(v *apiextensionsv1.CustomResourceValidation) string {
	if v == nil {
		return ""
	}
	return v.OpenAPIV3Schema.ID
}

// oldPlaceholder and oldNumberOf are placeholder and numberOf of v1beta1.
func oldPlaceholder(number string) *apiextensionsv1beta1.CustomResourceValidation {
	if number == "" {
		return nil
	}
	return &apiextensionsv1beta1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1beta1.JSONSchemaProps{ID: number}}
}

func oldNumberOf(v *apiextensionsv1beta1.CustomResourceValidation) string {
	if v == nil {
		return ""
	}
	return v.OpenAPIV3Schema.ID
}

// newStored converts a definition to its stored form. The result shares memory with it.
func newStored(definition *apiextensionsv1.CustomResourceDefinition) (*stored, error) {
	var schemas schemaList
	bare := *definition
	bare.Spec.Versions = slices.Clone(bare.Spec.Versions)
	for i := range bare.Spec.Versions {
		v := &bare.Spec.Versions[i]
		v.Schema = placeholder(schemas.number(v.Schema))
	}
	old := &apiextensionsv1beta1.CustomResourceDefinition{}
	if err := convert(&bare, old); err != nil {
		return nil, err
	}
	spec := old.Spec
	s := &stored{TypeMeta: old.TypeMeta, ObjectMeta: old.ObjectMeta, Status: old.Status, Spec: storedSpec{
		Group: spec.Group, Version: spec.Version, Names: spec.Names, Scope: spec.Scope,
		Validation: schemas.numbered(oldNumberOf(spec.Validation)), Subresources: spec.Subresources,
		AdditionalPrinterColumns: spec.AdditionalPrinterColumns, SelectableFields: spec.SelectableFields,
		Conversion: spec.Conversion, PreserveUnknownFields: spec.PreserveUnknownFields,
	}}
	for _, v := range spec.Versions {
		s.Spec.Versions = append(s.Spec.Versions, storedVersion{
			Name: v.Name, Served: v.Served, Storage: v.Storage, Deprecated: v.Deprecated, DeprecationWarning: v.DeprecationWarning,
			Schema: schemas.numbered(oldNumberOf(v.Schema)), Subresources: v.Subresources,
			AdditionalPrinterColumns: v.AdditionalPrinterColumns, SelectableFields: v.SelectableFields,
		})
	}
	return s, nil
}

// definition converts back.
func (s *stored) definition() (*apiextensionsv1.CustomResourceDefinition, error) {
	var schemas schemaList
	spec := s.Spec
	old := &apiextensionsv1beta1.CustomResourceDefinition{ObjectMeta: s.ObjectMeta, Status: s.Status, Spec: apiextensionsv1beta1.CustomResourceDefinitionSpec{
		Group: spec.Group, Version: spec.Version, Names: spec.Names, Scope: spec.Scope,
		Validation: oldPlaceholder(schemas.number(spec.Validation)), Subresources: spec.Subresources,
		AdditionalPrinterColumns: spec.AdditionalPrinterColumns, SelectableFields: spec.SelectableFields,
		Conversion: spec.Conversion, PreserveUnknownFields: spec.PreserveUnknownFields,
	}}
	for _, v := range spec.Versions {
		old.Spec.Versions = append(old.Spec.Versions, apiextensionsv1beta1.CustomResourceDefinitionVersion{
			Name: v.Name, Served: v.Served, Storage: v.Storage, Deprecated: v.Deprecated, DeprecationWarning: v.DeprecationWarning,
			Schema: oldPlaceholder(schemas.number(v.Schema)), Subresources: v.Subresources,
			AdditionalPrinterColumns: v.AdditionalPrinterColumns, SelectableFields: v.SelectableFields,
		})
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := convert(old, definition); err != nil {
		return nil, err
	}
	for i := range definition.Spec.Versions {
		v := &definition.Spec.Versions[i]
		v.Schema = schemas.numbered(numberOf(v.Schema))
	}
	return definition, nil
}
