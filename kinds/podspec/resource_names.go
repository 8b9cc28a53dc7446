package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/kinds/kind"
)

// objectCounts are the resources that count objects of the API.
var objectCounts = []corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
	corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
	corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

// sums are the resources that a quota sums over the pods or claims of a namespace.
var sums = []corev1.ResourceName{
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	corev1.ResourceRequestsStorage,
}

// resourceNames validates the name of a resource in one place.
type resourceNames func(name corev1.ResourceName, at *field.Path) field.ErrorList

// ValidateResourceName requires a native or a qualified resource name.
func ValidateResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if messages := utilvalidation.IsQualifiedName(string(name)); len(messages) > 0 {
		return kind.Invalid(at, name, messages)
	}
	if isQualified(name) || name == corev1.ResourceStorage || isOfContainers(name) || IsOfQuotas(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "must be a standard resource type or fully qualified")}
}

// ValidateContainerResourceName requires a resource that containers can use.
func ValidateContainerResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := ValidateResourceName(name, at)
	switch {
	case !isQualified(name) && !isOfContainers(name):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
	case isQualified(name) && !IsNative(name) && !resourcelist.IsExtended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// podLevel requires a resource that can be set for the pod as a whole.
func podLevel(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if errs := ValidateResourceName(name, at); len(errs) > 0 {
		return errs
	}
	if isPodLevel(name) {
		return nil
	}
	return kind.Supported(at, name, corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory)
}

func isPodLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}

// IsOfQuotas reports whether a quota can limit a native resource.
func IsOfQuotas(name corev1.ResourceName) bool {
	return isOfContainers(name) || slices.Contains(objectCounts, name) || slices.Contains(sums, name) ||
		strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

func isOfContainers(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || isHugePages(name)
}

// IsWhole reports whether the amount of a resource must be an integer.
func IsWhole(name corev1.ResourceName) bool {
	return slices.Contains(objectCounts, name) || resourcelist.IsExtended(name)
}

// Overcommits reports whether the limit of a resource may exceed its request.
func Overcommits(name corev1.ResourceName) bool { return IsNative(name) && !isHugePages(name) }

func isQualified(name corev1.ResourceName) bool { return strings.Contains(string(name), "/") }

// IsNative reports whether Kubernetes itself defines a resource.
func IsNative(name corev1.ResourceName) bool {
	return !isQualified(name) || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
