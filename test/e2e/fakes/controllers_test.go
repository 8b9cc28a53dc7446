package fakes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The controller does not set status.observedGeneration. On the fake both generations are 0.
func TestGeneration(t *testing.T) {
	controllerRuntime(t, "generation 1, observed 0", func(ctx context.Context, client client.Client) error {
		web := deployment("web")
		if err := client.Create(ctx, web); err != nil {
			return err
		}
		web.Status.Replicas = 1
		if err := client.Status().Update(ctx, web); err != nil {
			return err
		}
		if web.Status.ObservedGeneration != web.Generation {
			return fmt.Errorf("generation %d, observed %d", web.Generation, web.Status.ObservedGeneration)
		}
		return nil
	})
}

// The owner was sent as a copy, so it has no UID here.
func TestOwnerWithoutUID(t *testing.T) {
	controllerRuntime(t, "uid", func(ctx context.Context, client client.Client) error {
		owner := configMap("owner")
		if err := client.Create(ctx, owner.DeepCopy()); err != nil {
			return err
		}
		owned := configMap("owned")
		owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
		return client.Create(ctx, owned)
	})
}

// The object breaks a rule of its CustomResourceDefinition.
func TestCustomResourceRule(t *testing.T) {
	controllerRuntime(t, "min must not exceed max", func(ctx context.Context, client client.Client) error {
		pool := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Pool",
			"metadata": map[string]any{"namespace": "default", "name": "pool"},
			"spec":     map[string]any{"min": int64(3), "max": int64(2)},
		}}
		return client.Create(ctx, pool)
	})
}

// The stored spec has defaults and the desired one has none, so each reconciliation is an update.
func TestDefaults(t *testing.T) {
	controllerRuntime(t, "it never ends", func(ctx context.Context, client client.Client) error {
		for range 2 {
			if _, err := ensureDeployment(ctx, client); err != nil {
				return err
			}
		}
		changed, err := ensureDeployment(ctx, client)
		if changed {
			err = errors.New("the third reconciliation updates the deployment again: it never ends")
		}
		return err
	})
}

// ensureDeployment creates the deployment, or updates it if it is not as desired.
func ensureDeployment(ctx context.Context, c client.Client) (changed bool, err error) {
	desired, current := deployment("web"), &appsv1.Deployment{}
	err = c.Get(ctx, client.ObjectKeyFromObject(desired), current)
	if apierrors.IsNotFound(err) {
		return true, c.Create(ctx, desired)
	}
	if err != nil || equality.Semantic.DeepEqual(current.Spec, desired.Spec) {
		return false, err
	}
	current.Spec = desired.Spec
	return true, c.Update(ctx, current)
}
