package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// objectCounts are resources that come by the piece: objects of the API.
var objectCounts = []corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
	corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
	corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

// sums are what all pods of a namespace, or all claims, ask for.
var sums = []corev1.ResourceName{
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	corev1.ResourceRequestsStorage,
}

// resourceNames tells what may be named in a place.
type resourceNames func(name corev1.ResourceName, at *field.Path) field.ErrorList

// ValidateResourceName wants a resource that Kubernetes knows, or one that
// somebody has put their domain before.
func ValidateResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if messages := utilvalidation.IsQualifiedName(string(name)); len(messages) > 0 {
		return kind.Invalid(at, name, messages)
	}
	if isQualified(name) || name == corev1.ResourceStorage || isOfContainers(name) || IsOfQuotas(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "must be a standard resource type or fully qualified")}
}

// ValidateContainerResourceName wants what a container can use.
func ValidateContainerResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := ValidateResourceName(name, at)
	switch {
	case !isQualified(name) && !isOfContainers(name):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
	case isQualified(name) && !IsNative(name) && !isExtended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// podLevel wants what the containers of a pod can share.
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

// IsOfQuotas tells whether a namespace can be limited to an amount of it, of
// what has no domain before its name.
func IsOfQuotas(name corev1.ResourceName) bool {
	return isOfContainers(name) || slices.Contains(objectCounts, name) || slices.Contains(sums, name) ||
		strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

func isOfContainers(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || isHugePages(name)
}

// IsWhole tells whether there are no fractions of a resource.
func IsWhole(name corev1.ResourceName) bool {
	return slices.Contains(objectCounts, name) || isExtended(name)
}

// Overcommits tells whether containers may be limited to more than they
// request.
func Overcommits(name corev1.ResourceName) bool { return IsNative(name) && !isHugePages(name) }

func isQualified(name corev1.ResourceName) bool { return strings.Contains(string(name), "/") }

// IsNative tells whether a resource is one of Kubernetes itself.
func IsNative(name corev1.ResourceName) bool {
	return !isQualified(name) || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtended tells whether a resource is somebody else's: one that quotas can
// name too, with requests. before it.
func isExtended(name corev1.ResourceName) bool {
	return !IsNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(utilvalidation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
