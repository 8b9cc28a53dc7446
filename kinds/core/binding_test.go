package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

func bindingTo(pod, node string) *corev1.Binding {
	return &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
}

func TestBindingAssignsAPodOnce(t *testing.T) {
	e := newEnv(t)
	unbound := newPod("p")
	unbound.Labels = map[string]string{"zone": "own", "kept": "yes"}
	e.Create("pods", unbound)
	mustPut(e, "pods", "p", "status", func(p *corev1.Pod) { p.Status.NominatedNodeName = "n0" })
	binding := bindingTo("p", "n1")
	binding.Annotations, binding.Labels = map[string]string{"a": "b"}, map[string]string{"zone": "z"}
	if err := e.post("pods", "p", "binding", binding); err != nil {
		t.Fatal(err)
	}
	pod := get[*corev1.Pod](e, "pods", "p")
	if pod.Spec.NodeName != "n1" || pod.Status.NominatedNodeName != "" || pod.Annotations["a"] != "b" || pod.Generation != 1 {
		t.Errorf("node %q, nominated %q, annotations %v, generation %d", pod.Spec.NodeName, pod.Status.NominatedNodeName, pod.Annotations, pod.Generation)
	}
	if diff := cmp.Diff(map[string]string{"zone": "z", "kept": "yes"}, pod.Labels); diff != "" {
		t.Errorf("the labels of the binding go before the pod's: %s", diff)
	}
	if c := pod.Status.Conditions; len(c) != 1 || c[0].Type != corev1.PodScheduled || c[0].Status != corev1.ConditionTrue {
		t.Errorf("conditions %v, want PodScheduled", c)
	}
	err := e.post("pods", "p", "binding", bindingTo("p", "n2"))
	const want = `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"`
	if !apierrors.IsConflict(err) || err.Error() != want {
		t.Errorf("bound again: %v, want %s", err, want)
	}
}

func TestBindingRejected(t *testing.T) {
	e := newEnv(t)
	gated := newPod("gated")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	e.Create("pods", gated)
	e.Create("pods", newPod("p"))
	other := bindingTo("p", "n")
	other.UID = "other"
	for _, tc := range []struct {
		name, pod string
		binding   *corev1.Binding
		want      string
	}{
		{"of another pod", "p", bindingTo("q", "n"), "name in URL does not match name in Binding object"},
		{"without a target", "p", bindingTo("p", ""), "target.name: Required value"},
		{"of a missing pod", "absent", bindingTo("absent", "n"), `pods "absent" not found`},
		{"of a gated pod", "gated", bindingTo("gated", "n"), `Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates`},
		{"of a replaced pod", "p", other, `Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, ` +
			`Key: /registry/pods/default/p, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ` +
			string(get[*corev1.Pod](e, "pods", "p").UID)},
	} {
		if err := e.post("pods", tc.pod, "binding", tc.binding); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	if node := get[*corev1.Pod](e, "pods", "p").Spec.NodeName; node != "" {
		t.Errorf("the pod was bound to %s", node)
	}
}

func TestBindingsBindByTheirOwnName(t *testing.T) {
	e := newEnv(t)
	e.Create("pods", newPod("p"))
	_, err := e.Served("bindings").Create(t.Context(), registry.CreateRequest{Namespace: "default", Object: bindingTo("p", "n")})
	if err != nil {
		t.Fatal(err)
	}
	if node := get[*corev1.Pod](e, "pods", "p").Spec.NodeName; node != "n" {
		t.Errorf("bound to %q, want n", node)
	}
}

func TestBindingDryRun(t *testing.T) {
	e := newEnv(t)
	e.Create("pods", newPod("p"))
	_, err := e.Store("pods").CreateSubresource(t.Context(), "binding", registry.CreateRequest{
		Namespace: "default", Name: "p", Object: bindingTo("p", "n"), Options: registry.WriteOptions{DryRun: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if node := get[*corev1.Pod](e, "pods", "p").Spec.NodeName; node != "" {
		t.Errorf("a dry run bound the pod to %s", node)
	}
}
