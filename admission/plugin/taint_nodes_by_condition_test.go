package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestTaintNodesByCondition(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	want := []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}}
	for _, given := range [][]corev1.Taint{nil, want} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}, Spec: corev1.NodeSpec{Taints: given}}
		node = mustCreate(e, "nodes", node)
		if diff := cmp.Diff(want, node.Spec.Taints); diff != "" {
			t.Error(diff)
		}
		node = change(e, "nodes", node, func(n *corev1.Node) { n.Spec.Taints = nil })
		if len(node.Spec.Taints) > 0 {
			t.Errorf("an update restored the taints %v", node.Spec.Taints)
		}
	}
}
