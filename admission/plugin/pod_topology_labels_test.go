package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
)

func (e env) newNode(name string, labels map[string]string, features ...string) {
	e.Helper()
	node := mustCreate(e, "nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	_, err := tryChange(e, "nodes", "status", node, func(n *corev1.Node) {
		n.Status.Allocatable, n.Status.DeclaredFeatures = amounts("cpu", "2", "memory", "1Gi"), features
	})
	if err != nil {
		e.Fatal(err)
	}
}

func TestPodTopologyLabels(t *testing.T) {
	const zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
	e := newKinds(t, plugin.Config{})
	e.newNode("there", map[string]string{zone: "z", region: "r", "topology.kubernetes.io/rack": "k"})
	e.newNode("bare", nil)
	own := map[string]string{"a": "b", zone: "own"}
	labelled := map[string]string{"a": "b", zone: "z", region: "r"}
	binding := func(kind, node string) *corev1.Binding {
		return &corev1.Binding{Target: corev1.ObjectReference{Kind: kind, Name: node}}
	}
	for _, tc := range []struct {
		rule     string
		node     string          // of the pod
		binding  *corev1.Binding // nil: none
		resource string          // of the binding
		want     map[string]string
	}{
		{"a bound pod gets the zone and region of its node", "there", nil, "", labelled},
		{"a node without labels", "bare", nil, "", own},
		{"a node that does not exist", "absent", nil, "", own},
		{"a binding of a pod", "", binding("Node", "there"), "pods", labelled},
		{"a binding without a kind", "", binding("", "there"), "pods", own},
		{"a binding at the resource bindings", "", binding("Node", "there"), "bindings", own},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			pod := newPod("", func(p *corev1.Pod) { p.GenerateName, p.Labels, p.Spec.NodeName = "p-", own, tc.node })
			name := mustCreate(e, "pods", pod).Name
			if err := e.bind(tc.resource, name, tc.binding); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, e.Get("pods", "x", name).(*corev1.Pod).Labels); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func (e env) bind(resource, pod string, binding *corev1.Binding) error {
	if binding == nil {
		return nil
	}
	binding.ObjectMeta = named(pod)
	req := registry.CreateRequest{Namespace: "x", Name: pod, Object: binding}
	if resource == "pods" {
		_, err := e.Store(resource).CreateSubresource(e.Context(), "binding", req)
		return err
	}
	_, err := e.Served(resource).Create(e.Context(), req)
	return err
}
