package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultPod fills in what holds for a pod only, and what holds for pod specs
// everywhere.
func defaultPod(p *corev1.Pod) {
	requestLimits(p.Spec.InitContainers)
	requestLimits(p.Spec.Containers)
	defaultPodResources(&p.Spec)
	kind.SetDefaultPointer(&p.Spec.EnableServiceLinks, true)
	if p.Spec.HostNetwork {
		openHostPorts(p.Spec.InitContainers)
		openHostPorts(p.Spec.Containers)
	}
	podspec.Default(&p.Spec)
	if *p.Spec.TerminationGracePeriodSeconds < 0 {
		p.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	defaultPodAddresses(&p.Status)
	podspec.RoundUp(p.Status.AllocatedResources)
	roundRequirements(p.Status.Resources)
	roundStatuses(p.Status.InitContainerStatuses)
	roundStatuses(p.Status.ContainerStatuses)
	roundStatuses(p.Status.EphemeralContainerStatuses)
}

// requestLimits makes a container request what it is limited to, where it does
// not say what it requests.
func requestLimits(containers []corev1.Container) {
	for i := range containers {
		r := &containers[i].Resources
		if r.Limits != nil {
			r.Requests = fillResources(r.Requests, r.Limits)
		}
	}
}

// openHostPorts: in the network of the host a container's port is the host's.
func openHostPorts(containers []corev1.Container) {
	for i := range containers {
		for j := range containers[i].Ports {
			port := &containers[i].Ports[j]
			kind.SetDefault(&port.HostPort, port.ContainerPort)
		}
	}
}

// defaultPodAddresses makes the one address the first of the list, and the
// reverse. Where they differ the one address counts.
func defaultPodAddresses(s *corev1.PodStatus) {
	switch {
	case s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP):
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	case s.PodIP == "" && len(s.PodIPs) > 0:
		s.PodIP = s.PodIPs[0].IP
	}
}

// roundStatuses treats what containers got as what they asked for.
func roundStatuses(statuses []corev1.ContainerStatus) {
	for i := range statuses {
		podspec.RoundUp(statuses[i].AllocatedResources)
		roundRequirements(statuses[i].Resources)
	}
}

func roundRequirements(r *corev1.ResourceRequirements) {
	if r != nil {
		podspec.RoundUp(r.Limits)
		podspec.RoundUp(r.Requests)
	}
}

// fillResources adds to a list what it lacks of another, and makes the list
// where there is none.
func fillResources(list, from corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		list = make(corev1.ResourceList, len(from))
	}
	for name, quantity := range from {
		if _, ok := list[name]; !ok {
			list[name] = quantity.DeepCopy()
		}
	}
	return list
}
