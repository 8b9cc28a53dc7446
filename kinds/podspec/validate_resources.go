package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// ofQuotas are names that limit a namespace, and so are no container's.
var ofQuotas = []corev1.ResourceName{
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
	corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
	corev1.ResourceStorage, corev1.ResourceRequestsStorage, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

func validateRequirements(r *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	limits, requests := at.Child("limits"), at.Child("requests")
	errs := validateResources(r.Limits, limits)
	errs = append(errs, validateResources(r.Requests, requests)...)
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		switch {
		case !limited && !overcommits(name):
			errs = append(errs, field.Required(limits, "Limit must be set for non overcommitable resources"))
		case limited && !overcommits(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(requests, request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests, request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return errs
}

func validateResources(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at := at.Key(string(name))
		errs = append(errs, validateResourceName(name, at)...)
		errs = append(errs, ValidateQuantity(list[name], at)...)
	}
	return errs
}

// ValidateQuantity wants no less than nothing.
func ValidateQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, q.String(), "must be greater than or equal to 0")}
}

func validateResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := kind.Invalid(at, name, utilvalidation.IsQualifiedName(string(name)))
	if strings.Contains(string(name), "/") {
		return errs
	}
	switch {
	case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, isHugePages(name):
		return errs
	case !slices.Contains(ofQuotas, name):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
	}
	return append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
}

// overcommits tells whether containers may be limited to more than they
// request.
func overcommits(name corev1.ResourceName) bool {
	prefix, _, qualified := strings.Cut(string(name), "/")
	native := !qualified || strings.Contains(prefix+"/", corev1.ResourceDefaultNamespacePrefix)
	return native && !isHugePages(name)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
