package core

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

const immutableMessage = "field is immutable when `immutable` is set"

func configMaps() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.ConfigMap{},
		List:         &corev1.ConfigMapList{},
		Resource:     "configmaps",
		ShortNames:   []string{"cm"},
		Namespaced:   true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateConfigMap)},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Validate:           kind.CheckUpdate(validateConfigMapUpdate),
			},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Data", "string", corev1.ConfigMap{}.SwaggerDoc()["data"]),
				kind.AgeColumn(),
			},
			Row: kind.Row(func(c *corev1.ConfigMap) []any {
				return []any{c.Name, int64(len(c.Data) + len(c.BinaryData)), kind.Age(c.CreationTimestamp)}
			}),
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
