package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultPodResources sets resources of a pod that has some: limits of huge pages default to the
// sum of the containers, requests to the requests of the containers, or else to the limits of the
// pod.
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
