package core_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestNamespaceLivesUntilItIsFinalized(t *testing.T) {
	e := newEnv(t)
	created := e.Create("namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}).(*corev1.Namespace)
	if f := created.Spec.Finalizers; len(f) != 1 || f[0] != corev1.FinalizerKubernetes {
		t.Errorf("finalizers %v, want kubernetes", f)
	}
	if created.Status.Phase != corev1.NamespaceActive || created.Labels[corev1.LabelMetadataName] != "n" {
		t.Errorf("phase %q, labels %v", created.Status.Phase, created.Labels)
	}
	result, err := e.Store("namespaces").Delete(t.Context(), registry.DeleteRequest{Name: "n"})
	if err != nil {
		t.Fatal(err)
	}
	if result.Removed || registrytest.Object(result.Entry).(*corev1.Namespace).Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("removed %v, phase %q, want it to stay and terminate", result.Removed, registrytest.Object(result.Entry).(*corev1.Namespace).Status.Phase)
	}
	mustPut(e, "namespaces", "n", "", func(n *corev1.Namespace) { n.Spec.Finalizers = nil })
	if f := get[*corev1.Namespace](e, "namespaces", "n").Spec.Finalizers; len(f) != 1 {
		t.Errorf("an update took away the finalizers: %v", f)
	}
	mustPut(e, "namespaces", "n", "finalize", func(n *corev1.Namespace) { n.Spec.Finalizers = nil })
	if _, err := e.Store("namespaces").Get(t.Context(), "", "n", ""); !apierrors.IsNotFound(err) {
		t.Errorf("after finalize: %v, want 404", err)
	}
}

func TestNamespacePhaseFollowsItsDeletion(t *testing.T) {
	e := newEnv(t)
	e.Create("namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	_, err := put(e, "namespaces", "n", "status", func(n *corev1.Namespace) { n.Status.Phase = corev1.NamespaceTerminating })
	if !apierrors.IsInvalid(err) {
		t.Errorf("terminating without a deletion: %v, want 422", err)
	}
	_, err = put(e, "namespaces", "n", "finalize", func(n *corev1.Namespace) { n.Spec.Finalizers = append(n.Spec.Finalizers, "bad_/name") })
	if !apierrors.IsInvalid(err) {
		t.Errorf("a bad finalizer: %v, want 422", err)
	}
}
