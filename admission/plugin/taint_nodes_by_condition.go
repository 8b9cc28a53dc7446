package plugin

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/registry"
)

// TaintNodesByCondition adds the taint not-ready to new nodes. The node lifecycle controller
// removes it when the node is ready.
func TaintNodesByCondition() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "TaintNodesByCondition", Admit: taintNode}
}

func taintNode(_ context.Context, a *registry.Attributes) error {
	node, ok := created[*corev1.Node](a)
	if !ok {
		return nil
	}
	taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
	return nil
}
