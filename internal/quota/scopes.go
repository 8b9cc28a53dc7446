package quota

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/internal/resourcelist"
)

// podInScope reports whether a scope selects a pod.
func podInScope(scope corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod) bool {
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return terminates(pod)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !terminates(pod)
	case corev1.ResourceQuotaScopeBestEffort:
		return isBestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !isBestEffort(pod)
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

func isBestEffort(pod *corev1.Pod) bool {
	return cmp.Or(pod.Status.QOSClass, resourcelist.QOSClass(&pod.Spec)) == corev1.PodQOSBestEffort
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
