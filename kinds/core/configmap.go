package core

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

const immutableMessage = "field is immutable when `immutable` is set"

func configMaps() *registry.Resource {
	return kind.Definition[*corev1.ConfigMap]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.ConfigMap{},
		List:                     &corev1.ConfigMapList{},
		Resource:                 "configmaps",
		ShortNames:               []string{"cm"},
		Namespaced:               true,
		ValidateCreate:           validateConfigMap,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateConfigMapUpdate,
		Columns: []kind.Column[*corev1.ConfigMap]{
			kind.NameColumn[*corev1.ConfigMap](),
			{
				Name:        "Data",
				Description: corev1.ConfigMap{}.SwaggerDoc()["data"],
				Cell:        func(c *corev1.ConfigMap) any { return int64(len(c.Data) + len(c.BinaryData)) },
			},
			kind.AgeColumn[*corev1.ConfigMap](),
		},
	}.Build()
}

func validateConfigMapUpdate(obj, old *corev1.ConfigMap) field.ErrorList {
	errs := kind.Finalizers(obj)
	if old.Immutable == nil || !*old.Immutable {
		return append(errs, validateConfigMap(obj)...)
	}
	if obj.Immutable == nil || !*obj.Immutable {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableMessage))
	}
	if !maps.Equal(obj.Data, old.Data) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), immutableMessage))
	}
	if !equality.Semantic.DeepEqual(obj.BinaryData, old.BinaryData) {
		errs = append(errs, field.Forbidden(field.NewPath("binaryData"), immutableMessage))
	}
	return append(errs, validateConfigMap(obj)...)
}
