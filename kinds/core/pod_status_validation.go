package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validatePodStatus rejects the restart of ended containers, and values that contradict the spec.
func validatePodStatus(p, old *corev1.Pod) field.ErrorList {
	at := field.NewPath("status")
	errs := validateFixedAnnotations(p, old)
	errs = append(errs, validatePodConditions(p.Status.Conditions, at.Child("conditions"))...)
	errs = append(errs, validateNominated(p, old, at.Child("nominatedNodeName"))...)
	if n := p.Status.ObservedGeneration; n < 0 {
		errs = append(errs, field.Invalid(at.Child("observedGeneration"), n, negativeGeneration))
	}
	errs = append(errs, validation.ValidateImmutableField(p.Status.QOSClass, old.Status.QOSClass, at.Child("qosClass"))...)
	restarts := func(s *corev1.ContainerStatus) bool { return mayRestart(old, s) }
	never := func(*corev1.ContainerStatus) bool { return false }
	for _, list := range []struct {
		name     string
		now, was []corev1.ContainerStatus
		goesOn   func(*corev1.ContainerStatus) bool
	}{
		{"containerStatuses", p.Status.ContainerStatuses, old.Status.ContainerStatuses, restarts},
		{"initContainerStatuses", p.Status.InitContainerStatuses, old.Status.InitContainerStatuses, restarts},
		{"ephemeralContainerStatuses", p.Status.EphemeralContainerStatuses, old.Status.EphemeralContainerStatuses, never},
	} {
		errs = append(errs, validateEnded(list.now, list.was, list.goesOn, at.Child(list.name))...)
	}
	errs = append(errs, validateClaimStatuses(p, at.Child("resourceClaimStatuses"))...)
	errs = append(errs, validateExtendedClaims(p, at.Child("extendedResourceClaimStatus"))...)
	errs = append(errs, validatePodIPs(&p.Status, &old.Status, at.Child("podIPs"))...)
	errs = append(errs, validateHostIPs(&p.Status, &old.Status, at.Child("hostIPs"))...)
	return append(errs, validateContainerStatuses(p, at)...)
}

const negativeGeneration = "must be a non-negative integer"

// validatePodConditions validates the types of conditions.
func validatePodConditions(conditions []corev1.PodCondition, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range conditions {
		if c.ObservedGeneration < 0 {
			errs = append(errs, field.Invalid(at.Index(i).Child("observedGeneration"), c.ObservedGeneration, negativeGeneration))
		}
		errs = append(errs, metavalidation.ValidateLabelName(string(c.Type), at.Index(i).Child("Type"))...)
	}
	return errs
}

// validateNominated rejects a nominated node for a bound pod.
func validateNominated(p, old *corev1.Pod, at *field.Path) field.ErrorList {
	name := p.Status.NominatedNodeName
	if name == "" || name == old.Status.NominatedNodeName {
		return nil
	}
	errs := kind.Invalid(at, name, validation.NameIsDNSSubdomain(name, false))
	if old.Spec.NodeName != "" {
		errs = append(errs, field.Forbidden(at, "may not be set on pods that are already bound to a node"))
	}
	return errs
}

// mayRestart reports whether an ended container may restart. For a container with restart rules the
// status does not tell, and the result is true.
func mayRestart(p *corev1.Pod, s *corev1.ContainerStatus) bool {
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			if list[i].Name == s.Name && list[i].RestartPolicy != nil {
				return true
			}
		}
	}
	return p.Spec.RestartPolicy == corev1.RestartPolicyAlways ||
		p.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && s.State.Terminated.ExitCode != 0
}

func validateEnded(now, was []corev1.ContainerStatus, goesOn func(*corev1.ContainerStatus) bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range was {
		old := &was[i]
		if old.State.Terminated == nil || goesOn(old) {
			continue
		}
		for _, s := range now {
			if s.Name == old.Name && s.State.Terminated == nil {
				errs = append(errs, field.Forbidden(at.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
			}
		}
	}
	return errs
}

func validateClaimStatuses(p *corev1.Pod, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	claims, taken := sets.New[string](), sets.New[string]()
	for _, c := range p.Spec.ResourceClaims {
		claims.Insert(c.Name)
	}
	for i, s := range p.Status.ResourceClaimStatuses {
		place := at.Index(i)
		at := place.Child("name")
		if !claims.Has(s.Name) {
			errs = append(errs, field.Invalid(at, s.Name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		if taken.Has(s.Name) {
			errs = append(errs, field.Duplicate(at, s.Name))
		}
		taken.Insert(s.Name)
		if name := s.ResourceClaimName; name != nil {
			errs = append(errs, kind.Invalid(place.Child("resourceClaimName"), *name, validation.NameIsDNSSubdomain(*name, false))...)
		}
	}
	return errs
}
