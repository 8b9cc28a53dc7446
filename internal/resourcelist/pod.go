package resourcelist

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// Requests returns the requests of requirements.
func Requests(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }

// Limits returns the limits of requirements.
func Limits(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// OfPod returns the requests or limits of a whole pod: the sum of its containers, or the cpu and
// memory that are set for the pod itself.
func OfPod(spec *corev1.PodSpec, part func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	total := OfContainers(spec, part)
	if spec.Resources == nil {
		return total
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if quantity, ok := part(spec.Resources)[name]; ok {
			total[name] = quantity
		}
	}
	return total
}

// OfContainers returns the requests or limits of the containers of a pod that run at the same time.
func OfContainers(spec *corev1.PodSpec, part func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	return Sum(spec, func(c *corev1.Container) corev1.ResourceList { return part(&c.Resources) })
}

// Sum returns the highest sum of the resources of containers that run at the same time: the sum of
// the containers and sidecars, or of an init container and the sidecars started before it.
func Sum(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, start := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		Add(total, of(&spec.Containers[i]))
	}
	for i := range spec.InitContainers {
		container := &spec.InitContainers[i]
		resources := of(container)
		if IsSidecar(container) {
			Add(total, resources)
			Add(sidecars, resources)
			Raise(start, sidecars)
			continue
		}
		initial := maps.Clone(sidecars)
		Add(initial, resources)
		Raise(start, initial)
	}
	Raise(total, start)
	return total
}

// IsSidecar reports whether an init container keeps running beside the main containers.
func IsSidecar(init *corev1.Container) bool {
	return init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// HasOwn reports whether a pod has requests or limits of its own, besides those of its containers.
func HasOwn(spec *corev1.PodSpec) bool {
	return spec.Resources != nil && len(spec.Resources.Requests)+len(spec.Resources.Limits) > 0
}
