package podspec

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePodResources looks at what a pod has for all of its containers: no
// less than they request together, and no less than one of them is limited to.
func validatePodResources(s *scope, at *field.Path) field.ErrorList {
	r := s.Resources
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	if r.Claims != nil {
		errs = append(errs, field.Forbidden(at.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, validateRequirements(r, podLevel, at)...)
	errs = append(errs, validateClaimNames(s, r.Claims, at.Child("claims"))...)
	together := requestsOf(s.PodSpec)
	for _, name := range slices.Sorted(maps.Keys(together)) {
		own, requested := r.Requests[name]
		if sum := together[name]; requested && sum.Cmp(own) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests").Key(string(name)), own.String(),
				"must be greater than or equal to aggregate container requests of "+sum.String()))
		}
	}
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

// requestsOf is what the containers of a pod need at any one time: those that
// stay, together with the init container that needs most.
func requestsOf(spec *corev1.PodSpec) corev1.ResourceList {
	stay, most := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if isSidecar(c) {
			addResources(stay, c.Resources.Requests)
			raiseResources(most, stay)
			continue
		}
		starting := stay.DeepCopy()
		addResources(starting, c.Resources.Requests)
		raiseResources(most, starting)
	}
	for i := range spec.Containers {
		addResources(stay, spec.Containers[i].Resources.Requests)
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
