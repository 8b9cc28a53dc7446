package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateResize lets CPU and memory change, of what stays.
func validateResize(p, old *corev1.Pod) field.ErrorList {
	if message := unresizable(old); message != "" {
		return field.ErrorList{field.Forbidden(field.NewPath(""), message)}
	}
	spec := field.NewPath("spec")
	switch {
	case len(p.Spec.Containers) != len(old.Spec.Containers):
		return field.ErrorList{field.Forbidden(spec.Child("containers"), "containers may not be added or removed on resize")}
	case len(p.Spec.InitContainers) != len(old.Spec.InitContainers):
		return field.ErrorList{field.Forbidden(spec.Child("initContainers"), "initContainers may not be added or removed on resize")}
	case !sameContainers(p, old):
		return field.ErrorList{field.Forbidden(spec, "containers may not be renamed or reordered on resize")}
	}
	errs := validatePod(p)
	if podQOS(p) != old.Status.QOSClass {
		errs = append(errs, field.Invalid(spec, old.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !nodeResizes(old) {
		errs = append(errs, field.Forbidden(spec, "Pod running on node without support for resize"))
	}
	for i := range old.Spec.InitContainers {
		errs = append(errs, validateResizedInit(&p.Spec.InitContainers[i], &old.Spec.InitContainers[i], spec.Child("initContainers").Index(i), spec)...)
	}
	for i := range old.Spec.Containers {
		errs = append(errs, validateResized(&p.Spec.Containers[i], &old.Spec.Containers[i], spec.Child("containers").Index(i))...)
		if !onlyCompute(p.Spec.Containers[i].Resources, old.Spec.Containers[i].Resources) {
			errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable"))
		}
	}
	return errs
}

// unresizable says why a pod cannot be resized at all.
func unresizable(p *corev1.Pod) string {
	if _, static := p.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return "static pods cannot be resized"
	}
	if p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows {
		return "windows pods cannot be resized"
	}
	return ""
}

// nodeResizes tells by a running container whether the kubelet reports
// resources. Where nothing runs it is taken to.
func nodeResizes(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running != nil {
			return c.Resources != nil
		}
	}
	return true
}

// validateResizedInit: an init container that has run cannot be helped.
func validateResizedInit(c, old *corev1.Container, at, spec *field.Path) field.ErrorList {
	if old.RestartPolicy == nil || *old.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		if equality.Semantic.DeepEqual(c, old) {
			return nil
		}
		return field.ErrorList{field.Forbidden(spec, "resources for non-sidecar init containers are immutable")}
	}
	errs := validateResized(c, old, at)
	if !onlyCompute(c.Resources, old.Resources) {
		errs = append(errs, field.Forbidden(spec, "only cpu and memory resources for sidecar containers are mutable"))
	}
	return errs
}

func validateResized(c, old *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if isRemoved(c.Resources.Requests, old.Resources.Requests) {
		errs = append(errs, field.Forbidden(at.Child("resources", "requests"), "resource requests cannot be removed"))
	}
	if isRemoved(c.Resources.Limits, old.Resources.Limits) {
		errs = append(errs, field.Forbidden(at.Child("resources", "limits"), "resource limits cannot be removed"))
	}
	return errs
}

func isRemoved(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// onlyCompute tells whether nothing but CPU and memory differs.
func onlyCompute(now, was corev1.ResourceRequirements) bool {
	rest := func(list corev1.ResourceList) corev1.ResourceList {
		others := corev1.ResourceList{}
		for name, quantity := range list {
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
				others[name] = quantity
			}
		}
		return others
	}
	return equality.Semantic.DeepEqual(rest(now.Limits), rest(was.Limits)) &&
		equality.Semantic.DeepEqual(rest(now.Requests), rest(was.Requests)) &&
		equality.Semantic.DeepEqual(now.Claims, was.Claims)
}
