package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func warningsForPodTemplate(t *corev1.PodTemplate) []string {
	return podspec.TemplateWarnings(&t.Template, field.NewPath("template"))
}
