package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func validatePodTemplate(t *corev1.PodTemplate) field.ErrorList {
	return podspec.ValidateTemplate(&t.Template, field.NewPath("template"))
}
