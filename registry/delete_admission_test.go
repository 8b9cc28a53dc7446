package registry_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// TestDeletionsWithAdmission deletes one pod several times. As in kube-apiserver, a deletion that
// changes nothing is not admitted, and admission receives the grace period that starts.
func TestDeletionsWithAdmission(t *testing.T) {
	var admitted []runtime.Object
	e := registrytest.New(t, deletions(&admitted))
	e.Create("pods", registrytest.NewPod("p", "node"))
	e.Create("pods", registrytest.NewPod("unscheduled", ""))
	for _, c := range []struct {
		rule, pod string
		options   *metav1.DeleteOptions
		want      []runtime.Object
	}{
		{"the first deletion starts the default grace period", "p", &metav1.DeleteOptions{}, []runtime.Object{metav1.NewDeleteOptions(30)}},
		{"a deletion of a terminating pod changes nothing", "p", &metav1.DeleteOptions{}, nil},
		{"a longer grace period changes nothing", "p", metav1.NewDeleteOptions(40), nil},
		{"a shorter grace period is a change", "p", metav1.NewDeleteOptions(10), []runtime.Object{metav1.NewDeleteOptions(10)}},
		{"a grace period of zero removes the pod", "p", metav1.NewDeleteOptions(0), []runtime.Object{metav1.NewDeleteOptions(0)}},
		{"a pod without a node has no grace period", "unscheduled", &metav1.DeleteOptions{}, []runtime.Object{metav1.NewDeleteOptions(0)}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			admitted = nil
			if _, err := e.Store("pods").Delete(t.Context(), deleteRequest(c.pod, c.options)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, admitted); diff != "" {
				t.Errorf("options in admission (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeletionsOfANamespaceWithAdmission checks that only the deletion which marks a namespace is
// admitted, with a precondition of its UID.
func TestDeletionsOfANamespaceWithAdmission(t *testing.T) {
	var admitted []runtime.Object
	e := registrytest.New(t, deletions(&admitted))
	uid := e.Create("namespaces", registrytest.NewNamespace("n")).(*corev1.Namespace).UID
	for range 2 {
		if _, err := e.Store("namespaces").Delete(t.Context(), registry.DeleteRequest{Name: "n", Options: &metav1.DeleteOptions{}}); err != nil {
			t.Fatal(err)
		}
	}
	want := []runtime.Object{&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(types.UID(uid))}}}
	if diff := cmp.Diff(want, admitted); diff != "" {
		t.Errorf("options in admission (-want +got):\n%s", diff)
	}
}

// deletions returns a chain that adds the options of each deletion to seen.
func deletions(seen *[]runtime.Object) registry.Chain {
	return registry.Chain{{Name: "Test", Validate: func(_ context.Context, a *registry.Attributes) error {
		if a.Operation == registry.OperationDelete {
			*seen = append(*seen, a.Options.Sent)
		}
		return nil
	}}}
}
