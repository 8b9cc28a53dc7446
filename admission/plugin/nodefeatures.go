package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/miniapi/miniapi/registry"
)

// NodeDeclaredFeatureValidator lets a pod change as its node says that it can
// change a running pod. It needs a resource "nodes" in the same catalog.
func NodeDeclaredFeatureValidator() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "NodeDeclaredFeatureValidator", Validate: checkNodeFeatures}
}

func checkNodeFeatures(ctx context.Context, a *registry.Attributes) error {
	pod, old, ok := updatedBy[*corev1.Pod](a, "resize")
	if !ok || pod.Spec.NodeName == "" || pod.Generation == old.Generation {
		return nil
	}
	needed := neededFeatures(&pod.Spec, &old.Spec)
	if len(needed) == 0 {
		return nil
	}
	node, err := nodeOf(ctx, a, pod)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(needed, func(feature string) bool { return slices.Contains(node.Status.DeclaredFeatures, feature) })
	if len(missing) > 0 {
		return forbidden(a, fmt.Errorf("pod update requires features %s which are not available on node %q", strings.Join(missing, ", "), node.Name))
	}
	return nil
}

// neededFeatures are those by which nodes resize what not all of them can. No
// other update needs any.
func neededFeatures(spec, old *corev1.PodSpec) []string {
	var needed []string
	if !equality.Semantic.DeepEqual(spec.Resources, old.Resources) {
		needed = append(needed, "InPlacePodLevelResourcesVerticalScaling")
	}
	for i, c := range old.InitContainers {
		if !isSidecar(&c) && !equality.Semantic.DeepEqual(c.Resources, spec.InitContainers[i].Resources) {
			return append(needed, "InPlacePodVerticalScalingInitContainers")
		}
	}
	return needed
}
