package plugin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newEnv(t *testing.T, namespaces ...string) *registrytest.Env {
	e := registrytest.New(t, registry.Chain{plugin.NamespaceLifecycle()})
	for _, name := range namespaces {
		e.Create("namespaces", registrytest.NewNamespace(name))
	}
	return e
}

func create(e *registrytest.Env, obj runtime.Object) error {
	_, err := e.Store("configmaps").Create(e.Context(), registry.CreateRequest{
		Namespace: registrytest.Meta(obj).GetNamespace(), Object: obj,
	})
	return err
}

func deleteNamespace(e *registrytest.Env, name string) error {
	_, err := e.Store("namespaces").Delete(e.Context(), registry.DeleteRequest{Name: name, Options: &metav1.DeleteOptions{}})
	return err
}

func wantStatus(t *testing.T, err error, want metav1.Status) {
	t.Helper()
	var got *apierrors.StatusError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a status", err)
	}
	want.Status = metav1.StatusFailure
	if diff := cmp.Diff(want, got.ErrStatus); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestNamespaceMustExistForCreates(t *testing.T) {
	e := newEnv(t)
	absent := metav1.Status{
		Code: 404, Reason: metav1.StatusReasonNotFound, Message: `namespaces "x" not found`,
		Details: &metav1.StatusDetails{Kind: "namespaces", Name: "x"},
	}
	wantStatus(t, create(e, registrytest.NewConfigMap("c")), absent)
	_, err := e.Store("leases.coordination.k8s.io").Update(t.Context(), registry.UpdateRequest{
		Namespace: "x", Name: "l", CreateIfAbsent: true,
		Propose: func(context.Context, runtime.Object) (runtime.Object, error) { return registrytest.NewLease("l"), nil },
	})
	wantStatus(t, err, absent)
	e.Create("namespaces", registrytest.NewNamespace("x"))
	e.Create("configmaps", registrytest.NewConfigMap("c"))
}

func TestNamespaceMustNotTerminateForCreates(t *testing.T) {
	e := newEnv(t, "x")
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	if err := deleteNamespace(e, "x"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ rule, name, generateName, shown string }{
		{"a name", "d", "", "d"},
		{"a generateName", "", "gen-", "gen-"},
		{"no name", "", "", "Unknown"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			obj := registrytest.NewConfigMap(c.name)
			obj.GenerateName = c.generateName
			wantStatus(t, create(e.With(t), obj), metav1.Status{
				Code: 403, Reason: metav1.StatusReasonForbidden,
				Message: `configmaps "` + c.shown + `" is forbidden: unable to create new content in namespace x because it is being terminated`,
				Details: &metav1.StatusDetails{Kind: "configmaps", Name: c.shown, Causes: []metav1.StatusCause{
					{Type: corev1.NamespaceTerminatingCause, Message: "namespace x is being terminated", Field: "metadata.namespace"},
				}},
			})
		})
	}
	t.Run("updates and deletions are allowed", func(t *testing.T) {
		_, err := e.Store("configmaps").Update(t.Context(), registry.UpdateRequest{
			Namespace: "x", Name: "c",
			Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
				return registrytest.Change(current.(*corev1.ConfigMap), func(c *corev1.ConfigMap) { c.Data = map[string]string{"a": "b"} }), nil
			},
		})
		if err != nil {
			t.Error(err)
		}
		if _, err := e.Store("configmaps").Delete(t.Context(), registry.DeleteRequest{Namespace: "x", Name: "c"}); err != nil {
			t.Error(err)
		}
	})
}

func TestImmortalNamespaces(t *testing.T) {
	e := newEnv(t, "default", "kube-system", "kube-public", "kube-node-lease")
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		wantStatus(t, deleteNamespace(e, name), metav1.Status{
			Code: 403, Reason: metav1.StatusReasonForbidden, Message: `namespaces "` + name + `" is forbidden: this namespace may not be deleted`,
			Details: &metav1.StatusDetails{Kind: "namespaces", Name: name},
		})
	}
	if err := deleteNamespace(e, "kube-node-lease"); err != nil {
		t.Error(err)
	}
}
