package plugin

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

func requestsOf(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }

func limitsOf(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// podResources returns the requests or limits of a whole pod: the maximum of the sum of its
// containers and sidecars, and of each init container plus the sidecars started before it.
// Resources set for the pod itself take precedence.
func podResources(spec *corev1.PodSpec, part func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, start := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		addResources(total, part(&spec.Containers[i].Resources))
	}
	for i := range spec.InitContainers {
		container := &spec.InitContainers[i]
		resources := part(&container.Resources)
		if isSidecar(container) {
			addResources(total, resources)
			addResources(sidecars, resources)
			maxResources(start, sidecars)
			continue
		}
		initial := maps.Clone(sidecars)
		addResources(initial, resources)
		maxResources(start, initial)
	}
	maxResources(total, start)
	if spec.Resources != nil {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if quantity, ok := part(spec.Resources)[name]; ok {
				total[name] = quantity
			}
		}
	}
	return total
}

// isSidecar reports whether an init container keeps running beside the main containers.
func isSidecar(init *corev1.Container) bool {
	return init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// addResources adds quantities to a list. It does not modify the quantities, which other lists may
// share.
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

// maxResources raises each quantity in a list to the quantity of the same resource in another list.
func maxResources(list, other corev1.ResourceList) {
	for name, quantity := range other {
		if current, ok := list[name]; !ok || quantity.Cmp(current) > 0 {
			list[name] = quantity
		}
	}
}
