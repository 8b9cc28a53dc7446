package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/internal/resourcelist"
)

func podEvaluator() Evaluator {
	return Evaluator{
		updates: updatesPod,
		counts:  countsPods,
		usage:   func(obj runtime.Object, now time.Time) corev1.ResourceList { return podUsage(obj.(*corev1.Pod), now) },
		until:   func(obj runtime.Object) time.Time { return endOfCharge(obj.(*corev1.Pod)) },
		constraints: func(names []corev1.ResourceName, obj runtime.Object) error {
			return podConstraints(names, &obj.(*corev1.Pod).Spec)
		},
		inScope: func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool {
			return podInScope(scope, obj.(*corev1.Pod))
		},
	}
}

// updatesPod returns true for a resize, and for an update that moves a pod between the scopes
// Terminating and NotTerminating.
func updatesPod(subresource string, obj, old runtime.Object) bool {
	return subresource == "resize" || subresource == "" && terminates(obj.(*corev1.Pod)) != terminates(old.(*corev1.Pod))
}

// requiredOfContainers returns the names of a quota that every container must set.
func requiredOfContainers() []corev1.ResourceName {
	return []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	}
}

func countsPods(name corev1.ResourceName) bool {
	switch name {
	case objectCountName(corev1.Resource("pods")), corev1.ResourcePods, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	text := string(name)
	return slices.Contains(requiredOfContainers(), name) || strings.HasPrefix(text, corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(text, corev1.ResourceRequestsHugePagesPrefix) ||
		strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) && isExtended(name)
}

// isExtended reports whether a resource has a domain that is not of Kubernetes.
func isExtended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// podUsage returns the usage of a pod. A pod that has finished, or that should have been removed
// after its grace period, counts only as an object.
func podUsage(pod *corev1.Pod, now time.Time) corev1.ResourceList {
	used := corev1.ResourceList{objectCountName(corev1.Resource("pods")): newQuantity(1)}
	if end := endOfCharge(pod); hasFinished(pod) || !end.IsZero() && now.After(end) {
		return used
	}
	maps.Copy(used, computeUsage(requestsOf(pod), limitsOf(pod)))
	used[corev1.ResourcePods] = newQuantity(1)
	return used
}

func hasFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// endOfCharge returns the time after which a pod that is being deleted counts only as an object:
// its node is probably lost. It is zero for other pods.
func endOfCharge(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return time.Time{}
	}
	return pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
}

// computeUsage returns requests and limits under the names that quotas use.
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

// podConstraints returns an error that lists the containers without the requests and limits that a
// quota with these names requires. Nothing is required of the containers of a pod with resources of
// its own.
func podConstraints(names []corev1.ResourceName, spec *corev1.PodSpec) error {
	if resourcelist.HasOwn(spec) {
		return nil
	}
	var missing []string
	for _, name := range names {
		if !slices.Contains(requiredOfContainers(), name) {
			continue
		}
		var containers []string
		for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
			if _, ok := computeUsage(c.Resources.Requests, c.Resources.Limits)[name]; !ok {
				containers = append(containers, c.Name)
			}
		}
		if len(containers) > 0 {
			slices.Sort(containers)
			missing = append(missing, fmt.Sprintf("%s for: %s", name, strings.Join(containers, ",")))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("must specify %s", strings.Join(missing, "; "))
	}
	return nil
}
