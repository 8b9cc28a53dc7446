package plugin

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/miniapi/miniapi/registry"
)

// ownNode allows a node to write its own Node, except for the fields that decide which pods run on
// it and which objects it can read.
func (w nodeWrite) ownNode(context.Context) error {
	if w.Name != w.node {
		return w.forbid("node %q is not allowed to modify node %q", w.node, w.Name)
	}
	node, _ := w.Object.(*corev1.Node)
	old, _ := w.OldObject.(*corev1.Node)
	switch w.Operation {
	case registry.OperationCreate:
		return w.createdNode(node)
	case registry.OperationUpdate:
		return w.updatedNode(node, old)
	}
	return nil
}

func (w nodeWrite) createdNode(node *corev1.Node) error {
	if node.Spec.ConfigSource != nil {
		return w.forbid("node %q is not allowed to create pods with a non-nil configSource", w.node)
	}
	if labels := forbiddenLabels(node.Labels, nil); len(labels) > 0 {
		return w.forbid("node %q is not allowed to set the following labels: %s", w.node, strings.Join(labels, ", "))
	}
	return nil
}

func (w nodeWrite) updatedNode(node, old *corev1.Node) error {
	switch {
	// Old kubelets drop the field, so that it is nil.
	case node.Spec.ConfigSource != nil && !equality.Semantic.DeepEqual(node.Spec.ConfigSource, old.Spec.ConfigSource):
		return w.forbid("node %q is not allowed to update configSource to a new non-nil configSource", w.node)
	case !equality.Semantic.DeepEqual(node.Spec.Taints, old.Spec.Taints):
		return w.forbid("node %q is not allowed to modify taints", w.node)
	case !equality.Semantic.DeepEqual(node.OwnerReferences, old.OwnerReferences):
		return w.forbid("node %q is not allowed to modify ownerReferences", w.node)
	}
	if labels := forbiddenLabels(node.Labels, old.Labels); len(labels) > 0 {
		return w.forbid("is not allowed to modify labels: %s", strings.Join(labels, ", "))
	}
	return nil
}

// forbiddenLabels returns the changed labels that a node must not set, sorted.
func forbiddenLabels(labels, old map[string]string) []string {
	var forbidden []string
	check := func(labels, others map[string]string) {
		for key, value := range labels {
			if other, ok := others[key]; (!ok || other != value) && !mayLabel(key) {
				forbidden = append(forbidden, key)
			}
		}
	}
	check(labels, old)
	check(old, labels)
	slices.Sort(forbidden)
	return slices.Compact(forbidden)
}

// mayLabel reports whether a node can set a label of itself: any label outside of the domains of
// Kubernetes, and those that a kubelet sets.
func mayLabel(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found {
		return true
	}
	switch {
	case inDomain(domain, corev1.LabelNamespaceNodeRestriction):
		return false
	case !inDomain(domain, "kubernetes.io") && !inDomain(domain, "k8s.io"):
		return true
	case inDomain(domain, corev1.LabelNamespaceSuffixKubelet), inDomain(domain, corev1.LabelNamespaceSuffixNode):
		return true
	}
	return slices.Contains(labelsOfKubelets(), key)
}

func inDomain(domain, parent string) bool {
	return domain == parent || strings.HasSuffix(domain, "."+parent)
}

// labelsOfKubelets lists the labels in the domains of Kubernetes that a kubelet sets.
func labelsOfKubelets() []string {
	return []string{
		corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
		corev1.LabelInstanceType, corev1.LabelInstanceTypeStable, corev1.LabelOSStable, corev1.LabelArchStable,
		"beta.kubernetes.io/os", "beta.kubernetes.io/arch",
	}
}
