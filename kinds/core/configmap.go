package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func configMaps(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.ConfigMap]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.ConfigMap{},
		List:                     &corev1.ConfigMapList{},
		Resource:                 "configmaps",
		GenerateNameOnUpdate:     true,
		ShortNames:               []string{"cm"},
		Namespaced:               true,
		ValidateCreate:           validateConfigMap,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateConfigMapUpdate,
		Columns: kind.StandardColumns(
			kind.TextColumn("Data", corev1.ConfigMap{}.SwaggerDoc()["data"],
				func(c *corev1.ConfigMap) any { return int64(len(c.Data) + len(c.BinaryData)) }),
		),
	}.Build(features)
}
