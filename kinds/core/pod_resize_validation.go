package core

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// validateResize allows changes of cpu and memory.
func validateResize(p, old *corev1.Pod, features *feature.Set) field.ErrorList {
	if message := unresizable(old); message != "" {
		return field.ErrorList{field.Forbidden(field.NewPath(""), message)}
	}
	spec := field.NewPath("spec")
	errs := append(kind.ValidateFinalizers(p), podspec.ValidatePod(p, features)...)
	if resourcelist.QOSClass(&p.Spec) != cmp.Or(old.Status.QOSClass, resourcelist.QOSClass(&old.Spec)) {
		errs = append(errs, field.Invalid(spec, p.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !nodeResizes(old) {
		errs = append(errs, field.Forbidden(spec, "Pod running on node without support for resize"))
	}
	errs = append(errs, validateResizedPod(p.Spec.Resources, old.Spec.Resources, spec)...)
	if len(old.Status.NodeAllocatableResourceClaimStatuses) > 0 {
		errs = append(errs, field.Forbidden(spec, "pods with node allocatable resource claims cannot be resized"))
	}
	if containerErrs := validateSameContainers(p, old, spec); len(containerErrs) > 0 {
		return append(errs, containerErrs...)
	}
	errs = append(errs, validateKeptResources(p.Spec.InitContainers, old.Spec.InitContainers, spec.Child("initContainers"))...)
	errs = append(errs, validateKeptResources(p.Spec.Containers, old.Spec.Containers, spec.Child("containers"))...)
	for i := range old.Spec.Containers {
		if !onlyCompute(&p.Spec.Containers[i], &old.Spec.Containers[i]) {
			errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable"))
		}
	}
	for i := range old.Spec.InitContainers {
		errs = append(errs, validateResizedInit(&p.Spec.InitContainers[i], &old.Spec.InitContainers[i], spec.Child("initContainers").Index(i))...)
	}
	return errs
}

// unresizable returns the reason why a pod cannot be resized, if there is one.
func unresizable(p *corev1.Pod) string {
	if _, static := p.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return "static pods cannot be resized"
	}
	if p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows {
		return "windows pods cannot be resized"
	}
	return ""
}

// nodeResizes reports whether the kubelet supports resizes, judged by the status of a running
// container. Without one it returns true.
func nodeResizes(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running != nil {
			return c.Resources != nil
		}
	}
	return true
}

// validateResizedPod validates the resources of the pod as a whole.
func validateResizedPod(now, was *corev1.ResourceRequirements, spec *field.Path) field.ErrorList {
	at := spec.Child("resources")
	switch {
	case now == nil && was == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(at, "pod-level resources cannot be removed")}
	case was == nil:
		was = &corev1.ResourceRequirements{}
	}
	var errs field.ErrorList
	if isRemoved(now.Requests, was.Requests) {
		errs = append(errs, field.Forbidden(at.Child("requests"), "pod-level resource requests cannot be removed"))
	}
	if isRemoved(now.Limits, was.Limits) {
		errs = append(errs, field.Forbidden(at.Child("limits"), "pod-level resource limits cannot be removed"))
	}
	if !equality.Semantic.DeepEqual(withoutCompute(*now), withoutCompute(*was)) {
		errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

// validateSameContainers requires the same containers in the same order.
func validateSameContainers(p, old *corev1.Pod, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(name string, now, was []corev1.Container) {
		if len(now) != len(was) {
			errs = append(errs, field.Forbidden(spec.Child(name), name+" may not be added or removed on resize"))
			return
		}
		for i := range was {
			if now[i].Name != was[i].Name {
				errs = append(errs, field.Forbidden(spec.Child(name).Index(i).Child("name"), name+" may not be renamed or reordered on resize"))
			}
		}
	}
	check("containers", p.Spec.Containers, old.Spec.Containers)
	check("initContainers", p.Spec.InitContainers, old.Spec.InitContainers)
	return errs
}

func validateKeptResources(now, was []corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range was {
		at := at.Index(i).Child("resources")
		if isRemoved(now[i].Resources.Requests, was[i].Resources.Requests) {
			errs = append(errs, field.Forbidden(at.Child("requests"), "resource requests cannot be removed"))
		}
		if isRemoved(now[i].Resources.Limits, was[i].Resources.Limits) {
			errs = append(errs, field.Forbidden(at.Child("limits"), "resource limits cannot be removed"))
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

// validateResizedInit rejects a restart on resize for init containers that are not sidecars, which
// run once.
func validateResizedInit(c, old *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !onlyCompute(c, old) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"))
	}
	stays := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	if stays || equality.Semantic.DeepEqual(c, old) {
		return errs
	}
	for _, p := range c.ResizePolicy {
		if p.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
		}
	}
	return errs
}

// onlyCompute reports whether nothing but cpu and memory differs.
func onlyCompute(c, old *corev1.Container) bool {
	now, was := *c, *old
	now.Resources, was.Resources = withoutCompute(c.Resources), withoutCompute(old.Resources)
	return equality.Semantic.DeepEqual(now, was)
}

// withoutCompute returns resources without cpu and memory.
func withoutCompute(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	rest := func(list corev1.ResourceList) corev1.ResourceList {
		others := corev1.ResourceList{}
		for name, quantity := range list {
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
				others[name] = quantity
			}
		}
		return others
	}
	return corev1.ResourceRequirements{Limits: rest(r.Limits), Requests: rest(r.Requests), Claims: r.Claims}
}
