package registry_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestDryRunWritesNothing(t *testing.T) {
	env := registrytest.New(t, nil)
	c := env.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	held := env.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("held"), func(c *corev1.ConfigMap) { c.Finalizers = []string{"a/b"} })).(*corev1.ConfigMap)
	released := env.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("released"), func(c *corev1.ConfigMap) { c.Finalizers = []string{metav1.FinalizerDeleteDependents} })).(*corev1.ConfigMap)
	env.Create("pods", registrytest.NewPod("waiting", ""))
	deleted := env.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("deleted"), func(c *corev1.ConfigMap) { c.Finalizers = []string{"a/b"} })).(*corev1.ConfigMap)
	if _, err := env.Store("configmaps").Delete(t.Context(), registry.DeleteRequest{Namespace: "x", Name: deleted.Name}); err != nil {
		t.Fatal(err)
	}
	dryDelete := func(name string) registry.DeleteRequest {
		return registry.DeleteRequest{Namespace: "x", Name: name, Options: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}}
	}
	for rule, write := range map[string]func(e *registrytest.Env) error{
		"a create returns a complete object without resourceVersion": func(e *registrytest.Env) error {
			result, err := e.Store("configmaps").Create(e.Context(), postDryRun(registrytest.NewConfigMap("new")))
			if m := registrytest.Meta(registrytest.Object(result.Entry)); m.GetUID() == "" || m.GetResourceVersion() != "" {
				e.Errorf("metadata %v", m)
			}
			return err
		},
		"a create returns the resourceVersion of the request": func(e *registrytest.Env) error {
			sent := registrytest.Change(registrytest.NewConfigMap("new"), func(c *corev1.ConfigMap) { c.ResourceVersion = "99" })
			result, err := e.Store("configmaps").Create(e.Context(), postDryRun(sent))
			if err == nil && registrytest.Meta(registrytest.Object(result.Entry)).GetResourceVersion() != "99" {
				e.Errorf("got %v", registrytest.Object(result.Entry))
			}
			return err
		},
		"an update keeps the resourceVersion": func(e *registrytest.Env) error {
			got := update[*corev1.ConfigMap](e, "configmaps", withDryRun(patch(c, func(c *corev1.ConfigMap) { c.Data = map[string]string{"a": "b"} })))
			if got.Data["a"] != "b" || got.ResourceVersion != c.ResourceVersion {
				e.Errorf("got %v", got)
			}
			return nil
		},
		"an update that creates": func(e *registrytest.Env) error {
			result, err := e.Store("leases.coordination.k8s.io").Update(e.Context(), withDryRun(put(registrytest.NewLease("new"))))
			if !result.Created {
				e.Error("not created")
			}
			return err
		},
		"an update that removes the last finalizer": func(e *registrytest.Env) error {
			got := update[*corev1.ConfigMap](e, "configmaps", withDryRun(patch(deleted, func(c *corev1.ConfigMap) { c.Finalizers = nil })))
			if len(got.Finalizers) > 0 {
				e.Errorf("got %v", got)
			}
			return nil
		},
		"a delete": func(e *registrytest.Env) error {
			result, err := e.Store("configmaps").Delete(e.Context(), dryDelete("c"))
			if !result.Removed {
				e.Error("not removed")
			}
			return err
		},
		"a delete that marks the object": func(e *registrytest.Env) error {
			result, err := e.Store("configmaps").Delete(e.Context(), dryDelete(held.Name))
			if result.Removed || registrytest.Meta(registrytest.Object(result.Entry)).GetDeletionTimestamp() == nil {
				e.Errorf("removed %v, object %v", result.Removed, registrytest.Object(result.Entry))
			}
			return err
		},
		"a delete that removes the last finalizer": func(e *registrytest.Env) error {
			background := metav1.DeletePropagationBackground
			req := dryDelete(released.Name)
			req.Options.PropagationPolicy = &background
			result, err := e.Store("configmaps").Delete(e.Context(), req)
			if !result.Removed || !result.ReturnObject || registrytest.Meta(registrytest.Object(result.Entry)).GetName() != "" {
				e.Errorf("removed %v, return object %v, object %v", result.Removed, result.ReturnObject, registrytest.Object(result.Entry))
			}
			return err
		},
		"a delete that marks and removes the object": func(e *registrytest.Env) error {
			result, err := e.Store("pods").Delete(e.Context(), dryDelete("waiting"))
			if !result.Removed || registrytest.Meta(registrytest.Object(result.Entry)).GetDeletionTimestamp() == nil {
				e.Errorf("removed %v, object %v", result.Removed, registrytest.Object(result.Entry))
			}
			return err
		},
		"a deletion of a collection": func(e *registrytest.Env) error {
			page, err := e.Store("configmaps").DeleteCollection(e.Context(), dryDelete(""), registry.ListRequest{Namespace: "x"})
			if len(page.Entries) != 4 {
				e.Errorf("%d objects", len(page.Entries))
			}
			return err
		},
	} {
		t.Run(rule, func(t *testing.T) {
			e := env.With(t)
			before := e.Revision()
			if err := write(e); err != nil {
				t.Fatal(err)
			}
			if after := e.Revision(); after != before {
				t.Errorf("the revision of etcd changed from %d to %d", before, after)
			}
		})
	}
}
