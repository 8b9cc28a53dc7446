package core

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateResize lets CPU and memory change, of the pod and of containers that
// stay.
func validateResize(p, old *corev1.Pod) field.ErrorList {
	if message := unresizable(old); message != "" {
		return field.ErrorList{field.Forbidden(field.NewPath(""), message)}
	}
	spec := field.NewPath("spec")
	inits, containers := spec.Child("initContainers"), spec.Child("containers")
	errs := validatePod(p)
	if podQOS(p) != old.Status.QOSClass {
		errs = append(errs, field.Invalid(spec, old.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !nodeResizes(old) {
		errs = append(errs, field.Forbidden(spec, "Pod running on node without support for resize"))
	}
	errs = append(errs, validateResizedWhole(p.Spec.Resources, old.Spec.Resources, spec)...)
	others := validateOrder(p.Spec.Containers, old.Spec.Containers, containers, "containers")
	others = append(others, validateOrder(p.Spec.InitContainers, old.Spec.InitContainers, inits, "initContainers")...)
	if len(others) > 0 {
		return append(errs, others...)
	}
	errs = append(errs, validateNothingRemoved(p.Spec.InitContainers, old.Spec.InitContainers, inits)...)
	errs = append(errs, validateNothingRemoved(p.Spec.Containers, old.Spec.Containers, containers)...)
	for i := range old.Spec.Containers {
		if !onlyCompute(&p.Spec.Containers[i], &old.Spec.Containers[i]) {
			errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable"))
		}
	}
	for i := range old.Spec.InitContainers {
		if !onlyCompute(&p.Spec.InitContainers[i], &old.Spec.InitContainers[i]) {
			errs = append(errs, field.Forbidden(inits.Index(i), "only cpu and memory resources for init or sidecar containers are mutable"))
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

// validateResizedWhole looks at what the pod says for all of its containers.
func validateResizedWhole(r, old *corev1.ResourceRequirements, spec *field.Path) field.ErrorList {
	at := spec.Child("resources")
	switch {
	case old == nil && r == nil:
		return nil
	case old == nil:
		old = &corev1.ResourceRequirements{}
	case r == nil:
		return field.ErrorList{field.Forbidden(at, "pod-level resources cannot be removed")}
	}
	var errs field.ErrorList
	if isRemoved(r.Requests, old.Requests) {
		errs = append(errs, field.Forbidden(at.Child("requests"), "pod-level resource requests cannot be removed"))
	}
	if isRemoved(r.Limits, old.Limits) {
		errs = append(errs, field.Forbidden(at.Child("limits"), "pod-level resource limits cannot be removed"))
	}
	if !sameButCompute(r, old) || !equality.Semantic.DeepEqual(r.Claims, old.Claims) {
		errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

// validateOrder: no container comes, goes or takes the place of another.
func validateOrder(list, old []corev1.Container, at *field.Path, which string) field.ErrorList {
	if len(list) != len(old) {
		return field.ErrorList{field.Forbidden(at, which+" may not be added or removed on resize")}
	}
	var errs field.ErrorList
	for i := range old {
		if list[i].Name != old[i].Name {
			errs = append(errs, field.Forbidden(at.Index(i).Child("name"), which+" may not be renamed or reordered on resize"))
		}
	}
	return errs
}

func validateNothingRemoved(list, old []corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range old {
		resources := at.Index(i).Child("resources")
		if isRemoved(list[i].Resources.Requests, old[i].Resources.Requests) {
			errs = append(errs, field.Forbidden(resources.Child("requests"), "resource requests cannot be removed"))
		}
		if isRemoved(list[i].Resources.Limits, old[i].Resources.Limits) {
			errs = append(errs, field.Forbidden(resources.Child("limits"), "resource limits cannot be removed"))
		}
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

// onlyCompute tells whether nothing but CPU and memory differs. As in
// kube-apiserver who claims devices cannot be resized at all.
func onlyCompute(c, old *corev1.Container) bool {
	return sameButCompute(&c.Resources, &old.Resources) && len(old.Resources.Claims) == 0 &&
		equality.Semantic.DeepEqual(c.ResizePolicy, old.ResizePolicy)
}

func sameButCompute(now, was *corev1.ResourceRequirements) bool {
	rest := func(list corev1.ResourceList) corev1.ResourceList {
		others := maps.Clone(list)
		delete(others, corev1.ResourceCPU)
		delete(others, corev1.ResourceMemory)
		return others
	}
	return equality.Semantic.DeepEqual(rest(now.Limits), rest(was.Limits)) &&
		equality.Semantic.DeepEqual(rest(now.Requests), rest(was.Requests))
}
