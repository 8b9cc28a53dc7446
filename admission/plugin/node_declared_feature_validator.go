package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/registry"
)

// NodeDeclaredFeatureValidator rejects a resize of a bound pod that requires features which its
// node does not declare. The step reads the resource "nodes" of the catalog.
func NodeDeclaredFeatureValidator() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "NodeDeclaredFeatureValidator", Validate: checkNodeFeatures}
}

func checkNodeFeatures(ctx context.Context, a *registry.Attributes) error {
	pod, old, ok := updatedBy[*corev1.Pod](a, "resize")
	if !ok || pod.Spec.NodeName == "" || pod.Generation == old.Generation {
		return nil
	}
	required := requiredFeatures(&pod.Spec, &old.Spec)
	if len(required) == 0 {
		return nil
	}
	node, err := nodeOf(ctx, a, pod)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(required, func(feature string) bool { return slices.Contains(node.Status.DeclaredFeatures, feature) })
	if len(missing) > 0 {
		return forbidden(a, fmt.Errorf("pod update requires features %s which are not available on node %q", strings.Join(missing, ", "), node.Name))
	}
	return nil
}

// requiredFeatures returns the node features that a resize requires. Other updates require none.
func requiredFeatures(spec, old *corev1.PodSpec) []string {
	var required []string
	if !equality.Semantic.DeepEqual(spec.Resources, old.Resources) {
		required = append(required, "InPlacePodLevelResourcesVerticalScaling")
	}
	for i, c := range old.InitContainers {
		if !resourcelist.IsSidecar(&c) && !equality.Semantic.DeepEqual(c.Resources, spec.InitContainers[i].Resources) {
			return append(required, "InPlacePodVerticalScalingInitContainers")
		}
	}
	return required
}
