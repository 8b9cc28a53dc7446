package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func warningsForClaim(c *corev1.PersistentVolumeClaim) []string {
	return append(warningsForClass(c.Annotations), podspec.ClaimWarnings(&c.Spec, field.NewPath("spec"))...)
}
