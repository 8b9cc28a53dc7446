package quota

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/internal/resourcelist"
)

// requestsOf returns the requests of a pod with its overhead. During a resize they are the highest
// of the desired, allocated and actual resources of the containers.
func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	total := sumOfContainers(pod, resourcelist.Requests,
		func(s *corev1.ContainerStatus) corev1.ResourceList { return s.AllocatedResources },
		func(s *corev1.ContainerStatus) corev1.ResourceList {
			if actual := actualResources(s, resourcelist.Requests); len(actual) > 0 {
				return actual
			}
			return s.AllocatedResources
		})
	resourcelist.Add(total, pod.Spec.Overhead)
	return total
}

// limitsOf returns the limits of a pod with the overhead of those that are not zero. During a
// resize they are the higher of the desired and the actual limits of the containers.
func limitsOf(pod *corev1.Pod) corev1.ResourceList {
	total := sumOfContainers(pod, resourcelist.Limits, func(s *corev1.ContainerStatus) corev1.ResourceList {
		return actualResources(s, resourcelist.Limits)
	})
	for name, amount := range pod.Spec.Overhead {
		if limit := total[name]; !limit.IsZero() {
			resourcelist.Add(total, corev1.ResourceList{name: amount})
		}
	}
	return total
}

func actualResources(s *corev1.ContainerStatus, part func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	if s.Resources == nil {
		return nil
	}
	return part(s.Resources)
}

// sumOfContainers returns the highest of the sums of the resources in the specs and in the statuses
// of the containers, or the resources of the pod itself. An infeasible resize is not charged: only
// the statuses count.
func sumOfContainers(
	pod *corev1.Pod, part func(*corev1.ResourceRequirements) corev1.ResourceList, ofStatus ...func(*corev1.ContainerStatus) corev1.ResourceList,
) corev1.ResourceList {
	total := corev1.ResourceList{}
	infeasible := isResizeInfeasible(pod)
	if !infeasible {
		resourcelist.Raise(total, resourcelist.OfContainers(&pod.Spec, part))
	}
	statuses := slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses)
	for _, of := range ofStatus {
		resourcelist.Raise(total, resourcelist.Sum(&pod.Spec, func(c *corev1.Container) corev1.ResourceList {
			i := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
			if i >= 0 {
				if resources := of(&statuses[i]); len(resources) > 0 {
					return resources
				}
			}
			if infeasible {
				return nil
			}
			return part(&c.Resources)
		}))
	}
	if pod.Spec.Resources != nil {
		maps.Copy(total, part(pod.Spec.Resources))
	}
	return total
}

// isResizeInfeasible reports whether the node can never grant a pending resize.
func isResizeInfeasible(pod *corev1.Pod) bool {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
	return i >= 0 && pod.Status.Conditions[i].Reason == corev1.PodReasonInfeasible
}
