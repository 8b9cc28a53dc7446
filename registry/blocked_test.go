package registry_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage/storagetest"
)

// TestBlockedDecodingEndsWithTheRequest checks that a request that waits for a stored object, for
// example because a conversion webhook does not answer, returns when its context ends.
func TestBlockedDecodingEndsWithTheRequest(t *testing.T) {
	gate, deployments := storagetest.NewGate(), registrytest.Deployments()
	deployments.Codec = gate.Codec(deployments.Codec)
	e := registrytest.New(t, nil, deployments)
	obj := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	store := e.Store("deployments.apps")
	unchanged := patch(obj, func(*appsv1.Deployment) {})
	for name, call := range map[string]func(ctx context.Context) error{
		"update": func(ctx context.Context) error {
			_, err := store.Update(ctx, unchanged)
			return err
		},
		"update of a view": func(ctx context.Context) error {
			_, err := store.Update(ctx, withSubresource("scale", unchanged))
			return err
		},
		"get of a view": func(ctx context.Context) error {
			_, err := store.GetSubresource(ctx, obj.Namespace, obj.Name, "scale")
			return err
		},
		"create of an existing object": func(ctx context.Context) error {
			_, err := store.Create(ctx, post(registrytest.NewDeployment("d")))
			return err
		},
		"delete": func(ctx context.Context) error {
			_, err := store.Delete(ctx, deleteRequest("d", nil))
			return err
		},
		"deletion of a collection": func(ctx context.Context) error {
			_, err := store.DeleteCollection(ctx, deleteRequest("", nil), registry.ListRequest{Namespace: obj.Namespace})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { wantEndWithContext(t, gate, call) })
	}
}

// wantEndWithContext ends the context of a call that waits for the gate. The call must fail.
func wantEndWithContext(t *testing.T, gate *storagetest.Gate, call func(ctx context.Context) error) {
	t.Helper()
	open := gate.Shut()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call(ctx) }() // ends when the gate is open
	<-gate.Waiting
	cancel()
	timeout := time.NewTimer(time.Minute)
	defer timeout.Stop()
	select {
	case err := <-done:
		if err == nil {
			t.Error("the request has succeeded")
		}
	case <-timeout.C:
		t.Error("the request continues after its context has ended")
		defer func() { <-done }()
	}
	open()
}
