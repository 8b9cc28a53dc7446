package resourcelist

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// QOSClass returns the QoS class of a pod: Guaranteed if all containers have limits of cpu and
// memory that equal their requests, BestEffort if no container has requests or limits, else
// Burstable. Resources of the pod take precedence over the resources of its containers.
func QOSClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	var class corev1.PodQOSClass
	for _, r := range requirements(spec) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			next := classOf(r, name)
			if class != "" && next != class {
				return corev1.PodQOSBurstable
			}
			class = next
		}
	}
	return cmp.Or(class, corev1.PodQOSBestEffort)
}

// requirements returns the requirements that determine the QoS class.
func requirements(spec *corev1.PodSpec) []corev1.ResourceRequirements {
	if HasOwn(spec) {
		return []corev1.ResourceRequirements{*spec.Resources}
	}
	var all []corev1.ResourceRequirements
	for _, c := range spec.Containers {
		all = append(all, c.Resources)
	}
	for _, c := range spec.InitContainers {
		all = append(all, c.Resources)
	}
	return all
}

func classOf(r corev1.ResourceRequirements, name corev1.ResourceName) corev1.PodQOSClass {
	request, limit := r.Requests[name], r.Limits[name]
	switch {
	case request.Cmp(limit) != 0:
		return corev1.PodQOSBurstable
	case request.IsZero():
		return corev1.PodQOSBestEffort
	default:
		return corev1.PodQOSGuaranteed
	}
}
