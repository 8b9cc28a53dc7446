package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateOverhead looks at what pods need beside their containers, as if it
// were the limits of one.
func ValidateOverhead(fixed corev1.ResourceList, at *field.Path) field.ErrorList {
	return validateRequirements(&corev1.ResourceRequirements{Limits: fixed}, at)
}

// ValidateResourceName wants a resource that containers can ask for.
func ValidateResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	return validateResourceName(name, at)
}
