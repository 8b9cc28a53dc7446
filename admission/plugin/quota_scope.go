package plugin

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// podInScope tells whether a pod is one of those that a scope selects.
func podInScope(scope corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod) bool {
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return terminates(pod)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !terminates(pod)
	case corev1.ResourceQuotaScopeBestEffort:
		return isBestEffort(&pod.Spec)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !isBestEffort(&pod.Spec)
	case corev1.ResourceQuotaScopePriorityClass:
		return selects(scope, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return reachesOut(pod.Spec.Affinity)
	}
	return false
}

func terminates(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

// isBestEffort: nothing in the pod asks for, or is limited to, any computing.
func isBestEffort(spec *corev1.PodSpec) bool {
	asks := func(r corev1.ResourceRequirements) bool {
		return !r.Requests.Cpu().IsZero() || !r.Requests.Memory().IsZero() || !r.Limits.Cpu().IsZero() || !r.Limits.Memory().IsZero()
	}
	if spec.Resources != nil && asks(*spec.Resources) {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(spec.Containers, spec.InitContainers), func(c corev1.Container) bool { return asks(c.Resources) })
}

// selects holds a value, "" for none, against a selector.
func selects(scope corev1.ScopedResourceSelectorRequirement, value string) bool {
	switch scope.Operator {
	case corev1.ScopeSelectorOpExists:
		return value != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return value == ""
	case corev1.ScopeSelectorOpIn:
		return slices.Contains(scope.Values, value)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(scope.Values, value)
	}
	return false
}

// reachesOut tells whether a pod wants to be near, or far from, pods of other
// namespaces.
func reachesOut(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	weighted := func(list []corev1.WeightedPodAffinityTerm) {
		for _, w := range list {
			terms = append(terms, w.PodAffinityTerm)
		}
	}
	if near := affinity.PodAffinity; near != nil {
		terms = append(terms, near.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(near.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if far := affinity.PodAntiAffinity; far != nil {
		terms = append(terms, far.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(far.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}
