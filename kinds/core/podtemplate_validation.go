package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validatePodTemplate(t *corev1.PodTemplate, features *feature.Set) field.ErrorList {
	return podspec.ValidateTemplate(&t.Template, features, field.NewPath("template"))
}
