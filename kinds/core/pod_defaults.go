package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultPod sets the defaults of a pod and of its spec.
func defaultPod(p *corev1.Pod, features *feature.Set) {
	requestLimits(p.Spec.InitContainers)
	requestLimits(p.Spec.Containers)
	if features.Enabled(feature.PodLevelResources) && !features.Enabled(feature.PodLevelResourcesFixDefaulting) {
		defaultPodResources(&p.Spec)
	}
	kind.SetDefaultPointer(&p.Spec.EnableServiceLinks, true)
	if p.Spec.HostNetwork {
		openHostPorts(p.Spec.InitContainers)
		openHostPorts(p.Spec.Containers)
	}
	podspec.Default(&p.Spec)
	if features.Enabled(feature.H2CContainerProbe) {
		podspec.DefaultProbeProtocol(&p.Spec)
	}
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

// requestLimits sets missing requests of containers to their limits.
func requestLimits(containers []corev1.Container) {
	for i := range containers {
		r := &containers[i].Resources
		if r.Limits != nil {
			r.Requests = fillResources(r.Requests, r.Limits)
		}
	}
}

// openHostPorts sets the host ports of a pod in the network of its host.
func openHostPorts(containers []corev1.Container) {
	for i := range containers {
		for j := range containers[i].Ports {
			port := &containers[i].Ports[j]
			kind.SetDefault(&port.HostPort, port.ContainerPort)
		}
	}
}

// defaultPodAddresses sets podIP and the first item of podIPs from each other. podIP wins.
func defaultPodAddresses(s *corev1.PodStatus) {
	switch {
	case s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP):
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	case s.PodIP == "" && len(s.PodIPs) > 0:
		s.PodIP = s.PodIPs[0].IP
	}
}

// roundStatuses rounds the resources in the statuses of containers.
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

// fillResources copies the missing items of a list from another one. It creates the list if
// necessary.
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
