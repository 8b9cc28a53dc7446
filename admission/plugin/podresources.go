package plugin

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

func requestsOf(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }

func limitsOf(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// podResources returns what a pod takes as a whole: its containers together, or
// the init container that takes more, which runs beside the sidecars before it.
// What the pod says for itself comes first.
func podResources(spec *corev1.PodSpec, part func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, start := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		addResources(total, part(&spec.Containers[i].Resources))
	}
	for i := range spec.InitContainers {
		container := &spec.InitContainers[i]
		own := part(&container.Resources)
		if isSidecar(container) {
			addResources(total, own)
			addResources(sidecars, own)
			raiseResources(start, sidecars)
			continue
		}
		alone := maps.Clone(sidecars)
		addResources(alone, own)
		raiseResources(start, alone)
	}
	raiseResources(total, start)
	if spec.Resources != nil {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if quantity, ok := part(spec.Resources)[name]; ok {
				total[name] = quantity
			}
		}
	}
	return total
}

// isSidecar tells which init containers go on beside the others.
func isSidecar(init *corev1.Container) bool {
	return init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// addResources adds to a list, whose quantities it may share with others.
func addResources(list, more corev1.ResourceList) {
	for name, quantity := range more {
		sum := list[name].DeepCopy()
		if _, ok := list[name]; !ok {
			sum = quantity.DeepCopy()
		} else {
			sum.Add(quantity)
		}
		list[name] = sum
	}
}

func raiseResources(list, other corev1.ResourceList) {
	for name, quantity := range other {
		if current, ok := list[name]; !ok || quantity.Cmp(current) > 0 {
			list[name] = quantity
		}
	}
}
