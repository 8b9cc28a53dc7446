package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// podInScope reports whether a scope selects a pod.
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
		return hasCrossNamespaceAffinity(pod.Spec.Affinity)
	}
	return false
}

func terminates(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

// isBestEffort reports whether the pod has no requests and limits of CPU or memory.
func isBestEffort(spec *corev1.PodSpec) bool {
	isSet := func(r corev1.ResourceRequirements) bool {
		return !r.Requests.Cpu().IsZero() || !r.Requests.Memory().IsZero() || !r.Limits.Cpu().IsZero() || !r.Limits.Memory().IsZero()
	}
	if spec.Resources != nil && isSet(*spec.Resources) {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(spec.Containers, spec.InitContainers), func(c corev1.Container) bool { return isSet(c.Resources) })
}

// selects reports whether a scope selector matches a value, where "" is no value.
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

// hasCrossNamespaceAffinity reports whether an affinity refers to pods of other namespaces.
func hasCrossNamespaceAffinity(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	addWeighted := func(list []corev1.WeightedPodAffinityTerm) {
		for _, w := range list {
			terms = append(terms, w.PodAffinityTerm)
		}
	}
	if podAffinity := affinity.PodAffinity; podAffinity != nil {
		terms = append(terms, podAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		addWeighted(podAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if antiAffinity := affinity.PodAntiAffinity; antiAffinity != nil {
		terms = append(terms, antiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		addWeighted(antiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}
