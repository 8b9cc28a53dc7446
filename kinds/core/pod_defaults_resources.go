package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultPodResources fills in the resources of the pod as a whole, if the
// client has begun to: huge pages, unless requested, are limited to what the
// containers are together, and requested is what the containers request
// together, or else what the pod is limited to.
func defaultPodResources(spec *corev1.PodSpec) {
	r := spec.Resources
	if r == nil || len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	r.Limits = fillSome(r.Limits, podspec.LimitsTogether(spec), func(name corev1.ResourceName) bool {
		_, requested := r.Requests[name]
		return isHugePages(name) && !requested
	})
	if len(r.Limits) == 0 {
		return
	}
	r.Requests = fillSome(r.Requests, podspec.RequestedTogether(spec), isCPUOrMemory)
	r.Requests = fillSome(r.Requests, r.Limits, func(name corev1.ResourceName) bool {
		return isCPUOrMemory(name) || isHugePages(name)
	})
}

// fillSome adds to a list what it lacks of another, as far as that is wanted.
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
