package plugin

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// LimitPodHardAntiAffinityTopology rejects pods whose required anti-affinity has a topology key
// other than the host name.
func LimitPodHardAntiAffinityTopology() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "LimitPodHardAntiAffinityTopology", Validate: checkAntiAffinity}
}

func checkAntiAffinity(_ context.Context, a *registry.Attributes) error {
	pod, ok := written[*corev1.Pod](a)
	if !ok || pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname {
			return apierrors.NewForbidden(a.Resource.GroupResource(), pod.Name, fmt.Errorf(
				"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %v but only key %v is allowed", term.TopologyKey, corev1.LabelHostname))
		}
	}
	return nil
}
