package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/internal/resourcelist"
)

// defaultPodResources sets resources of a pod that has some: limits of huge pages default to the
// sum of the containers, requests to the requests of the containers, or else to the limits of the
// pod. Without limits there are no requests.
func defaultPodResources(spec *corev1.PodSpec) {
	if !resourcelist.HasOwn(spec) {
		return
	}
	defaultHugePageLimits(spec)
	if len(spec.Resources.Limits) > 0 {
		defaultPodRequests(spec)
	}
}

// completePodResources is defaultPodResources after mutating admission, which may add containers.
// It also sets the requests of a pod without limits, and the limits.
func completePodResources(spec *corev1.PodSpec) {
	if !resourcelist.HasOwn(spec) {
		return
	}
	defaultHugePageLimits(spec)
	defaultPodRequests(spec)
	defaultPodLimits(spec)
}

func defaultHugePageLimits(spec *corev1.PodSpec) {
	r := spec.Resources
	r.Limits = fillSome(r.Limits, resourcelist.OfContainers(spec, resourcelist.Limits), func(name corev1.ResourceName) bool {
		_, requested := r.Requests[name]
		return isHugePages(name) && !requested
	})
}

func defaultPodRequests(spec *corev1.PodSpec) {
	r := spec.Resources
	r.Requests = fillSome(r.Requests, resourcelist.OfContainers(spec, resourcelist.Requests), isCPUOrMemory)
	r.Requests = fillSome(r.Requests, r.Limits, func(name corev1.ResourceName) bool {
		return isCPUOrMemory(name) || isHugePages(name)
	})
}

// defaultPodLimits sets the limits of resources that the pod requests and all containers limit: the
// sum of the containers, or the request if it is higher.
func defaultPodLimits(spec *corev1.PodSpec) {
	r := spec.Resources
	limits := resourcelist.OfContainers(spec, resourcelist.Limits)
	for name, sum := range limits {
		if request := r.Requests[name]; request.Cmp(sum) > 0 {
			limits[name] = request
		}
	}
	r.Limits = fillSome(r.Limits, limits, func(name corev1.ResourceName) bool {
		_, requested := r.Requests[name]
		return requested && (isCPUOrMemory(name) || isHugePages(name)) && everyContainerLimits(spec, name)
	})
}

func everyContainerLimits(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	lacks := func(c corev1.Container) bool {
		_, ok := c.Resources.Limits[name]
		return !ok
	}
	return !slices.ContainsFunc(spec.Containers, lacks) && !slices.ContainsFunc(spec.InitContainers, lacks) &&
		!slices.ContainsFunc(spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool {
			return lacks(corev1.Container(c.EphemeralContainerCommon))
		})
}

// fillSome copies the missing items that are selected from another list.
func fillSome(list, from corev1.ResourceList, wanted func(corev1.ResourceName) bool) corev1.ResourceList {
	for name, quantity := range from {
		if _, ok := list[name]; ok || !wanted(name) {
			continue
		}
		if list == nil {
			list = make(corev1.ResourceList, len(from))
		}
		list[name] = quantity.DeepCopy()
	}
	return list
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func isCPUOrMemory(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory
}
