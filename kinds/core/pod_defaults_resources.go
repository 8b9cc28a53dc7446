package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	limits := sumOfContainers(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
	r.Limits = fillSome(r.Limits, limits, func(name corev1.ResourceName) bool {
		_, requested := r.Requests[name]
		return isHugePages(name) && !requested
	})
	if len(r.Limits) == 0 {
		return
	}
	requests := sumOfContainers(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
	r.Requests = fillSome(r.Requests, requests, isCPUOrMemory)
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

// sumOfContainers is what a pod's containers need at most at one time: all that
// stay, or one that prepares beside those before it that stay.
func sumOfContainers(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	running, staying, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		addResources(running, of(&spec.Containers[i]))
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		needs := corev1.ResourceList{}
		addResources(needs, staying)
		addResources(needs, of(c))
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			addResources(running, of(c))
			staying = needs
		}
		raiseResources(most, needs)
	}
	raiseResources(most, running)
	return most
}

func addResources(sum, list corev1.ResourceList) {
	for name, quantity := range list {
		total := sum[name].DeepCopy()
		total.Add(quantity)
		sum[name] = total
	}
}

func raiseResources(most, list corev1.ResourceList) {
	for name, quantity := range list {
		if now, ok := most[name]; !ok || quantity.Cmp(now) > 0 {
			most[name] = quantity.DeepCopy()
		}
	}
}
