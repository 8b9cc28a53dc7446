package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func secrets(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.Secret]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.Secret{},
		List:                     &corev1.SecretList{},
		Resource:                 "secrets",
		GenerateNameOnUpdate:     true,
		Namespaced:               true,
		Warnings:                 warningsForSecret,
		ValidateCreate:           validateSecret,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateSecretUpdate,
		Default:                  defaultSecret,
		FieldLabel:               kind.FieldLabels("metadata.name", "metadata.namespace", "type"),
		Fields: func(s *corev1.Secret) fields.Set {
			return fields.Set{"type": string(s.Type)}
		},
		Columns: kind.StandardColumns(
			kind.TextColumn("Type", corev1.Secret{}.SwaggerDoc()["type"],
				func(s *corev1.Secret) any { return string(s.Type) }),
			kind.TextColumn("Data", corev1.Secret{}.SwaggerDoc()["data"],
				func(s *corev1.Secret) any { return int64(len(s.Data)) }),
		),
	}.Build(features)
}
