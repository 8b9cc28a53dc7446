package core_test

import (
	"context"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a catalog of the built-in kinds with its own etcd.
type env struct{ *registrytest.Env }

func newEnv(t *testing.T) env {
	t.Helper()
	return env{registrytest.New(t, nil, kinds.Resources(feature.Default())...)}
}

// post sends a body to a subresource.
func (e env) post(resource, name, subresource string, body runtime.Object) error {
	store := e.Store(resource)
	if sub, ok := store.Resource().Subresource(subresource); ok && sub.Default != nil {
		sub.Default(body)
	}
	_, err := store.CreateSubresource(e.Context(), subresource, registry.CreateRequest{
		Namespace: "default",
		Name:      name,
		Object:    body,
	})
	return err
}

// put writes the changed stored object.
func put[T runtime.Object](e env, resource, name, subresource string, change func(obj T)) (T, error) {
	e.Helper()
	result, err := e.Store(resource).Update(e.Context(), registry.UpdateRequest{
		Namespace:   namespaceOf(e, resource),
		Name:        name,
		Subresource: subresource,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			obj := current.DeepCopyObject().(T)
			change(obj)
			e.Default(resource, obj)
			return obj, nil
		},
	})
	if err != nil {
		var none T
		return none, err
	}
	return registrytest.Object(result.Entry).(T), nil
}

// mustPut is put for a write that must succeed.
func mustPut[T runtime.Object](e env, resource, name, subresource string, change func(obj T)) T {
	e.Helper()
	obj, err := put(e, resource, name, subresource, change)
	if err != nil {
		e.Fatal(err)
	}
	return obj
}

func get[T runtime.Object](e env, resource, name string) T {
	e.Helper()
	return e.Get(resource, namespaceOf(e, resource), name).(T)
}

func namespaceOf(e env, resource string) string {
	if e.Store(resource).Resource().Namespaced {
		return "default"
	}
	return ""
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}
