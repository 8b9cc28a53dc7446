package core

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateNewPod(p *corev1.Pod, features *feature.Set) field.ErrorList {
	errs := podspec.ValidatePod(p, features)
	spec := field.NewPath("spec")
	if len(p.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return append(errs, podspec.ValidateProfiles(p.Annotations, &p.Spec, spec)...)
}

// validatePodUpdate rejects changes of immutable fields. It reports the errors of metadata, images
// and tolerations twice, as kube-apiserver does.
func validatePodUpdate(p, old *corev1.Pod, features *feature.Set) field.ErrorList {
	errs := append(kind.ValidateFinalizers(p), podspec.ValidatePod(p, features)...)
	errs = append(errs, validateFixedAnnotations(p, old)...)
	spec := field.NewPath("spec")
	for _, c := range []struct {
		name     string
		now, was []corev1.Container
	}{
		{"containers", p.Spec.Containers, old.Spec.Containers},
		{"initContainers", p.Spec.InitContainers, old.Spec.InitContainers},
	} {
		if len(c.now) != len(c.was) {
			return append(errs, field.Forbidden(spec.Child(c.name), "pod updates may not add or remove containers"))
		}
		errs = append(errs, validateChangedImages(c.now, spec.Child(c.name))...)
	}
	if deadlineErrs := validateDeadlineUpdate(p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds, spec.Child("activeDeadlineSeconds")); len(deadlineErrs) > 0 {
		errs = append(errs, deadlineErrs...)
		if p.Spec.ActiveDeadlineSeconds != nil {
			return errs
		}
	}
	errs = append(errs, validateAddedTolerations(p.Spec.Tolerations, old.Spec.Tolerations, features, spec.Child("tolerations"))...)
	errs = append(errs, validateRemovedGates(p.Spec.SchedulingGates, old.Spec.SchedulingGates, spec.Child("schedulingGates"))...)
	return append(errs, validateFixedPodSpec(p, old, spec)...)
}

func validateChangedImages(containers []corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range containers {
		at := at.Index(i).Child("image")
		errs = append(errs, kind.Required(at, containers[i].Image)...)
		errs = append(errs, podspec.ValidateImage(containers[i].Image, at)...)
	}
	return errs
}

// validateFixedAnnotations rejects changes of annotations that a kubelet acts on, and validates the
// others.
func validateFixedAnnotations(p, old *corev1.Pod) field.ErrorList {
	var errs field.ErrorList
	now, was := p.Annotations, old.Annotations
	at := field.NewPath("metadata", "annotations")
	refuse := func(key, how string) {
		switch {
		case strings.HasPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix):
			errs = append(errs, field.Forbidden(at.Key(key), how+" AppArmor annotations"))
		case key == corev1.MirrorPodAnnotationKey:
			errs = append(errs, field.Forbidden(at.Key(key), how+" mirror pod annotation"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if value, ok := now[key]; !ok || value != was[key] {
			refuse(key, "may not remove or update")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, ok := was[key]; !ok {
			refuse(key, "may not add")
		}
	}
	return append(errs, podspec.ValidateAnnotations(p.Annotations, &p.Spec, at)...)
}

// validateDeadlineUpdate allows a deadline to be set and to decrease.
func validateDeadlineUpdate(now, was *int64, at *field.Path) field.ErrorList {
	switch {
	case now == nil && was != nil:
		return field.ErrorList{field.Invalid(at, now, "must not update from a positive integer to nil value")}
	case now == nil:
		return nil
	case *now < 0 || *now > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, *now, utilvalidation.InclusiveRangeError(0, math.MaxInt32))}
	case was != nil && *was < *now:
		return field.ErrorList{field.Invalid(at, *now, "must be less than or equal to previous value")}
	}
	return nil
}

// validateAddedTolerations requires the old tolerations among the new ones, with any
// tolerationSeconds.
func validateAddedTolerations(now, was []corev1.Toleration, features *feature.Set, at *field.Path) field.ErrorList {
	for _, old := range was {
		found := false
		for _, t := range now {
			t.TolerationSeconds = old.TolerationSeconds
			found = found || t == old
		}
		if !found {
			return field.ErrorList{field.Forbidden(at, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return podspec.ValidateTolerations(now, features, at)
}

// validateRemovedGates rejects new scheduling gates.
func validateRemovedGates(now, was []corev1.PodSchedulingGate, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, gate := range now {
		if !slices.Contains(was, gate) {
			errs = append(errs, field.Forbidden(at.Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
		}
	}
	return errs
}

// validateFixedPodSpec compares the specs without their mutable fields.
func validateFixedPodSpec(p, old *corev1.Pod, at *field.Path) field.ErrorList {
	if kind.Same(&p.Spec, &old.Spec) {
		return nil
	}
	rest := p.Spec.DeepCopy()
	keepImages(rest.Containers, old.Spec.Containers)
	keepImages(rest.InitContainers, old.Spec.InitContainers)
	if len(rest.InitContainers) == 0 {
		rest.InitContainers = nil // the error text of kube-apiserver has no empty list
	}
	rest.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	rest.Tolerations = old.Spec.Tolerations
	rest.SchedulingGates = old.Spec.SchedulingGates
	if now, was := rest.TerminationGracePeriodSeconds, old.Spec.TerminationGracePeriodSeconds; was != nil && *was < 0 && now != nil && *now == 1 {
		rest.TerminationGracePeriodSeconds = was
	}
	var errs field.ErrorList
	if len(old.Spec.SchedulingGates) > 0 {
		errs = validateNarrowed(rest, &old.Spec, at)
	}
	if kind.Same(rest, &old.Spec) {
		return errs
	}
	return append(errs, field.Forbidden(at, "pod updates may not change fields other than "+
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"+
		"`spec.tolerations` (only additions to existing tolerations),"+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"+
		kind.GoDiff(old.Spec, *rest)))
}

func keepImages(containers, old []corev1.Container) {
	for i := range containers {
		containers[i].Image = old[i].Image
	}
}
