package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateRequirements(r *corev1.ResourceRequirements, names resourceNames, at *field.Path) field.ErrorList {
	if len(r.Limits)+len(r.Requests) == 0 {
		return nil
	}
	limits, requests := at.Child("limits"), at.Child("requests")
	errs := validateResources(r.Limits, names, limits)
	errs = append(errs, validateResources(r.Requests, names, requests)...)
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		switch {
		case !limited && !Overcommits(name):
			errs = append(errs, field.Required(limits, "Limit must be set for non overcommitable resources"))
		case limited && !Overcommits(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(requests, request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests, request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	if hasHugePages(r) && !hasCompute(r.Limits) && !hasCompute(r.Requests) {
		errs = append(errs, field.Forbidden(at, "HugePages require cpu or memory"))
	}
	return errs
}

func hasHugePages(r *corev1.ResourceRequirements) bool {
	isSet := func(list corev1.ResourceList) bool {
		for name := range list {
			if isHugePages(name) {
				return true
			}
		}
		return false
	}
	return isSet(r.Limits) || isSet(r.Requests)
}

func hasCompute(list corev1.ResourceList) bool {
	_, cpu := list[corev1.ResourceCPU]
	_, memory := list[corev1.ResourceMemory]
	return cpu || memory
}

func validateResources(list corev1.ResourceList, names resourceNames, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at, quantity := at.Key(string(name)), list[name]
		errs = append(errs, names(name, at)...)
		errs = append(errs, ValidateAmount(name, quantity, at)...)
		if isHugePages(name) && !isDivisible(name, quantity) {
			errs = append(errs, field.Invalid(at, quantity.String(), fmt.Sprintf("%s is not positive integer multiple of %s", quantity.String(), name)))
		}
	}
	return errs
}

// ValidateOverhead validates the overhead of a pod.
func ValidateOverhead(list corev1.ResourceList, at *field.Path) field.ErrorList {
	return validateRequirements(&corev1.ResourceRequirements{Limits: list}, ValidateContainerResourceName, at)
}

// ValidateQuantity rejects negative quantities.
func ValidateQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, q.String(), "must be greater than or equal to 0")}
}

// ValidateAmount also rejects fractions of resources that are integers.
func ValidateAmount(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	errs := ValidateQuantity(q, at)
	if IsWhole(name) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q, "must be an integer"))
	}
	return errs
}

// isDivisible reports whether an amount of huge pages is a multiple of the page size in the name of
// the resource.
func isDivisible(name corev1.ResourceName, q resource.Quantity) bool {
	page, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || page.Sign() <= 0 || page.MilliValue()%1000 != 0 {
		return false
	}
	return q.Value()%page.Value() == 0
}
