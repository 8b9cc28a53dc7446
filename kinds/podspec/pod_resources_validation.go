package podspec

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/internal/resourcelist"
)

// validatePodResources validates the resources of the pod as a whole: at least the sum of the
// containers' requests, and at least the limit of each container.
func validatePodResources(s *scope, at *field.Path) field.ErrorList {
	r := s.Resources
	switch {
	case r == nil:
		return nil
	case s.OS != nil && s.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(at, "may not be set for a windows pod")}
	}
	var errs field.ErrorList
	if r.Claims != nil {
		errs = append(errs, field.Forbidden(at.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, validateRequirements(r, podLevel, at)...)
	errs = append(errs, validateClaimNames(s, r.Claims, at.Child("claims"))...)
	errs = append(errs, validateTogether(s.PodSpec, at)...)
	for i := range s.Containers {
		list := s.Containers[i].Resources.Limits
		for _, name := range slices.Sorted(maps.Keys(list)) {
			own, limited := r.Limits[name]
			if limit := list[name]; limited && limit.Cmp(own) > 0 {
				errs = append(errs, field.Invalid(at.Child("containers").Index(i).Key(string(name)).Child("limits"), limit.String(),
					"must be less than or equal to pod limits of "+own.String()))
			}
		}
	}
	return errs
}

// validateTogether compares resources with the sum of the containers'. Huge pages must be equal.
func validateTogether(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	compare := func(own, together corev1.ResourceList, at *field.Path, of string) {
		for _, name := range slices.Sorted(maps.Keys(together)) {
			amount, ok := own[name]
			if sum := together[name]; ok && sum.Cmp(amount) > 0 {
				errs = append(errs, field.Invalid(at.Key(string(name)), amount.String(), "must be greater than or equal to aggregate container "+of+" of "+sum.String()))
			}
		}
	}
	compare(spec.Resources.Requests, resourcelist.OfContainers(spec, resourcelist.Requests), at.Child("requests"), "requests")
	limits := resourcelist.OfContainers(spec, resourcelist.Limits)
	maps.DeleteFunc(limits, func(name corev1.ResourceName, _ resource.Quantity) bool { return !isHugePages(name) })
	compare(spec.Resources.Limits, limits, at.Child("limits"), "limits")
	return errs
}
