package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func podMeter() meter {
	return meter{
		updates:     true,
		subresource: "resize",
		counts:      countsPods,
		usage:       func(obj runtime.Object) corev1.ResourceList { return podUsage(obj.(*corev1.Pod)) },
		demand: func(names []corev1.ResourceName, obj runtime.Object) error {
			return missingResources(names, &obj.(*corev1.Pod).Spec)
		},
		inScope: func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool {
			return podInScope(scope, obj.(*corev1.Pod))
		},
	}
}

// demanded are the entries of a quota for which every container has to say how
// much it takes.
func demanded() []corev1.ResourceName {
	return []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	}
}

func countsPods(name corev1.ResourceName) bool {
	switch name {
	case countOf(corev1.Resource("pods")), corev1.ResourcePods, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	text := string(name)
	return slices.Contains(demanded(), name) || strings.HasPrefix(text, corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(text, corev1.ResourceRequestsHugePagesPrefix) ||
		strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) && isExtended(name)
}

// isExtended tells whether a resource is none of Kubernetes' own.
func isExtended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// podUsage: a pod that is through uses nothing but its place in etcd.
func podUsage(pod *corev1.Pod) corev1.ResourceList {
	used := corev1.ResourceList{countOf(corev1.Resource("pods")): number(1)}
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return used
	}
	requests, limits := podResources(&pod.Spec, requestsOf), podResources(&pod.Spec, limitsOf)
	addResources(requests, pod.Spec.Overhead)
	for name, quantity := range pod.Spec.Overhead {
		if _, limited := limits[name]; limited {
			addResources(limits, corev1.ResourceList{name: quantity})
		}
	}
	maps.Copy(used, computeUsage(requests, limits))
	used[corev1.ResourcePods] = number(1)
	return used
}

// computeUsage names what is asked for and limited to as quotas do.
func computeUsage(requests, limits corev1.ResourceList) corev1.ResourceList {
	used := corev1.ResourceList{}
	for name, quantity := range requests {
		requested := corev1.DefaultResourceRequestsPrefix + name
		switch {
		case isComputed(name), strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			used[name], used[requested] = quantity, quantity
		case isExtended(name):
			used[requested] = quantity
		}
	}
	for name, quantity := range limits {
		if isComputed(name) {
			used["limits."+name] = quantity
		}
	}
	return used
}

func isComputed(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// missingResources names what the pod's containers ought to say and do not, and
// the pod does not say for them.
func missingResources(names []corev1.ResourceName, spec *corev1.PodSpec) error {
	said := corev1.ResourceList{}
	if spec.Resources != nil {
		said = computeUsage(spec.Resources.Requests, spec.Resources.Limits)
	}
	var faults []string
	for _, name := range names {
		if _, ok := said[name]; ok || !slices.Contains(demanded(), name) {
			continue
		}
		var silent []string
		for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
			if _, ok := computeUsage(c.Resources.Requests, c.Resources.Limits)[name]; !ok {
				silent = append(silent, c.Name)
			}
		}
		if len(silent) > 0 {
			slices.Sort(silent)
			faults = append(faults, fmt.Sprintf("%s for: %s", name, strings.Join(silent, ",")))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("must specify %s", strings.Join(faults, "; "))
	}
	return nil
}
