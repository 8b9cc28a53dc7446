package resourcelist

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// QOSClass returns the QoS class of a pod: Guaranteed if all containers have limits of cpu and
// memory that equal their requests, BestEffort if no container has requests or limits, else
// Burstable. Resources of the pod take precedence over the resources of its containers.
func QOSClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	var needs []corev1.ResourceRequirements
	if spec.Resources != nil {
		needs = append(needs, *spec.Resources)
	} else {
		for _, c := range spec.Containers {
			needs = append(needs, c.Resources)
		}
		for _, c := range spec.InitContainers {
			needs = append(needs, c.Resources)
		}
	}
	best, guaranteed := true, true
	for _, n := range needs {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := positive(n.Requests, name), positive(n.Limits, name)
			best = best && request == nil && limit == nil
			guaranteed = guaranteed && limit != nil && (request == nil || request.Cmp(*limit) == 0)
		}
	}
	switch {
	case best:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

func positive(list corev1.ResourceList, name corev1.ResourceName) *resource.Quantity {
	if q, ok := list[name]; ok && q.Sign() > 0 {
		return &q
	}
	return nil
}
