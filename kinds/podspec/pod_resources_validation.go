package podspec

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	compare(spec.Resources.Requests, RequestedTogether(spec), at.Child("requests"), "requests")
	limits := LimitsTogether(spec)
	maps.DeleteFunc(limits, func(name corev1.ResourceName, _ resource.Quantity) bool { return !isHugePages(name) })
	compare(spec.Resources.Limits, limits, at.Child("limits"), "limits")
	return errs
}

// RequestedTogether returns the highest sum of the requests of containers that run at the same
// time.
func RequestedTogether(spec *corev1.PodSpec) corev1.ResourceList {
	return together(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
}

// LimitsTogether returns the sum of the limits of containers that run at the same time.
func LimitsTogether(spec *corev1.PodSpec) corev1.ResourceList {
	return together(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
}

// together returns the highest sum over containers that run at the same time: containers and
// sidecars, and the init container with the highest value.
func together(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	stay, most := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if isSidecar(c) {
			addResources(stay, of(c))
			raiseResources(most, stay)
			continue
		}
		starting := stay.DeepCopy()
		addResources(starting, of(c))
		raiseResources(most, starting)
	}
	for i := range spec.Containers {
		addResources(stay, of(&spec.Containers[i]))
	}
	raiseResources(stay, most)
	return stay
}

func addResources(to, more corev1.ResourceList) {
	for name, quantity := range more {
		sum := to[name].DeepCopy()
		sum.Add(quantity)
		to[name] = sum
	}
}

func raiseResources(to, least corev1.ResourceList) {
	for name, quantity := range least {
		if own, ok := to[name]; !ok || own.Cmp(quantity) < 0 {
			to[name] = quantity.DeepCopy()
		}
	}
}
