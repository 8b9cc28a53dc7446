package resourcelist

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// Requests returns the requests of requirements.
func Requests(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }

// Limits returns the limits of requirements.
func Limits(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// OfPod returns the requests or limits of a whole pod: the maximum of the sum of its
// containers and sidecars, and of each init container plus the sidecars started before it.
// Resources set for the pod itself take precedence.
func OfPod(spec *corev1.PodSpec, part func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, start := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		Add(total, part(&spec.Containers[i].Resources))
	}
	for i := range spec.InitContainers {
		container := &spec.InitContainers[i]
		resources := part(&container.Resources)
		if IsSidecar(container) {
			Add(total, resources)
			Add(sidecars, resources)
			raise(start, sidecars)
			continue
		}
		initial := maps.Clone(sidecars)
		Add(initial, resources)
		raise(start, initial)
	}
	raise(total, start)
	if spec.Resources != nil {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if quantity, ok := part(spec.Resources)[name]; ok {
				total[name] = quantity
			}
		}
	}
	return total
}

// IsSidecar reports whether an init container keeps running beside the main containers.
func IsSidecar(init *corev1.Container) bool {
	return init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
