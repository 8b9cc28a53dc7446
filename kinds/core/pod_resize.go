package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// podResize returns the subresource that changes the resources of containers.
func podResize(features *feature.Set, disabled kind.DisabledFields[*corev1.Pod]) registry.Subresource {
	fix := features.Enabled(feature.PodLevelResourcesFixDefaulting)
	return kind.Write[*corev1.Pod]{
		AllowUnconditional: true,
		Prepare: func(_ context.Context, p, old *corev1.Pod) {
			if fix {
				keepPodResources(p, old)
			}
			if !sameContainers(p, old) {
				// Validation rejects the write.
				return
			}
			resources, containers, inits := p.Spec.Resources, p.Spec.Containers, p.Spec.InitContainers
			keepPod(p, old)
			p.Spec.Resources = resources
			p.Spec.Containers = resized(containers, old.Spec.Containers)
			p.Spec.InitContainers = resized(inits, old.Spec.InitContainers)
			if fix {
				p.Spec.Resources = p.Spec.Resources.DeepCopy()
				completePodResources(&p.Spec)
			}
			disabled.Drop(p, old)
			countPodGeneration(p, old)
		},
		Validate: func(p, old *corev1.Pod) field.ErrorList { return validateResize(p, old, features) },
	}.Subresource("resize")
}

// keepPodResources restores resources of the pod that an older client has dropped.
func keepPodResources(p, old *corev1.Pod) {
	if p.Spec.Resources == nil {
		p.Spec.Resources = old.Spec.Resources.DeepCopy()
	}
}

// keepPod restores everything of old.
func keepPod(p, old *corev1.Pod) {
	p.Spec, p.Status = old.Spec, old.Status
	metav1.ResetObjectMetaForStatus(p, old)
}

func sameContainers(p, old *corev1.Pod) bool {
	return sameNames(p.Spec.Containers, old.Spec.Containers) && sameNames(p.Spec.InitContainers, old.Spec.InitContainers)
}

func sameNames(list, old []corev1.Container) bool {
	if len(list) != len(old) {
		return false
	}
	for i := range list {
		if list[i].Name != old[i].Name {
			return false
		}
	}
	return true
}

// resized returns the old containers with the resources of the new ones.
func resized(list, old []corev1.Container) []corev1.Container {
	if len(old) == 0 {
		return old
	}
	result := make([]corev1.Container, len(old))
	for i := range old {
		result[i] = old[i]
		result[i].Resources = list[i].Resources
		result[i].ResizePolicy = list[i].ResizePolicy
	}
	return result
}
