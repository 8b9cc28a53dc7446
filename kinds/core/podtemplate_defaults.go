package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func defaultPodTemplate(t *corev1.PodTemplate) { podspec.DefaultTemplate(&t.Template) }
