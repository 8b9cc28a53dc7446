package plugin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// PodTopologyLabels copies the zone and region labels of a node to the pods bound to it. The step
// reads the resource "nodes" of the catalog.
func PodTopologyLabels() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PodTopologyLabels", Admit: labelTopology}
}

func labelTopology(ctx context.Context, a *registry.Attributes) error {
	if a.Operation != registry.OperationCreate || a.Resource.GroupResource() != corev1.Resource("pods") {
		return nil
	}
	switch obj := a.Object.(type) {
	case *corev1.Pod:
		return copyTopology(ctx, a, &obj.ObjectMeta, obj.Spec.NodeName)
	case *corev1.Binding:
		if obj.Target.Kind == "Node" {
			// The labels of a binding are copied to its pod.
			return copyTopology(ctx, a, &obj.ObjectMeta, obj.Target.Name)
		}
	}
	return nil
}

// copyTopology copies the labels of a node, if it exists.
func copyTopology(ctx context.Context, a *registry.Attributes, to *metav1.ObjectMeta, nodeName string) error {
	store, ok := a.Catalog.Store(corev1.Resource("nodes"))
	if !ok || nodeName == "" {
		return nil
	}
	node, err := getObjectAt[*corev1.Node](ctx, store, "", nodeName, "0")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if value, ok := node.Labels[key]; ok {
			metav1.SetMetaDataLabel(to, key, value)
		}
	}
	return nil
}
