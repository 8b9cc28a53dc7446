package plugin

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/registry"
)

// ExtendedResourceToleration lets pods tolerate taints with the names of the extended resources
// that their containers request.
func ExtendedResourceToleration() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ExtendedResourceToleration", Admit: tolerateExtendedResources}
}

func tolerateExtendedResources(_ context.Context, a *registry.Attributes) error {
	pod, ok := written[*corev1.Pod](a)
	if !ok {
		return nil
	}
	requested := sets.Set[string]{}
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		for name := range c.Resources.Requests {
			if resourcelist.IsExtended(name) {
				requested.Insert(string(name))
			}
		}
	}
	for _, name := range sets.List(requested) {
		addToleration(&pod.Spec, corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return nil
}

// addToleration replaces the tolerations of the same taints, or appends the toleration.
func addToleration(spec *corev1.PodSpec, added corev1.Toleration) {
	replaced := false
	for i := range spec.Tolerations {
		if added.MatchToleration(&spec.Tolerations[i]) {
			spec.Tolerations[i], replaced = added, true
		}
	}
	if !replaced {
		spec.Tolerations = append(spec.Tolerations, added)
	}
}
