package plugin_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// env is a catalog of the built-in kinds with an admission chain and the namespace x.
type env struct{ *registrytest.Env }

func newKinds(t *testing.T, config plugin.Config) env {
	t.Helper()
	chain, err := plugin.Default(config)
	if err != nil {
		t.Fatal(err)
	}
	e := env{registrytest.New(t, chain, kinds.Resources(feature.Default())...)}
	e.Create("namespaces", registrytest.NewNamespace("x"))
	return e
}

// try creates an object, and returns it or the error text.
func (e env) try(resource string, obj runtime.Object) (runtime.Object, string) {
	return e.tryWith(resource, obj, registry.WriteOptions{})
}

func (e env) tryWith(resource string, obj runtime.Object, options registry.WriteOptions) (runtime.Object, string) {
	e.Helper()
	obj = obj.DeepCopyObject()
	e.Default(resource, obj)
	result, err := e.Store(resource).Create(e.Context(), registry.CreateRequest{
		Namespace: registrytest.Meta(obj).GetNamespace(), Object: obj, Options: options,
	})
	if err != nil {
		return nil, err.Error()
	}
	return registrytest.Object(result.Entry), ""
}

// named returns the metadata of an object in the namespace x.
func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "x", Name: name} }

// newPod returns a pod with one container.
func newPod(name string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: named(name), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if change != nil {
		change(pod)
	}
	return pod
}

// mustCreate is like Create, with the type of the object.
func mustCreate[T runtime.Object](e env, resource string, obj T) T {
	e.Helper()
	return e.Create(resource, obj).(T)
}

// change updates an object, or fails the test.
func change[T runtime.Object](e env, resource string, obj T, change func(T)) T {
	e.Helper()
	changed, err := tryChange(e, resource, "", obj, change)
	if err != nil {
		e.Fatal(err)
	}
	return changed
}

// tryChange updates an object, or a subresource of it.
func tryChange[T runtime.Object](e env, resource, subresource string, obj T, change func(T)) (T, error) {
	e.Helper()
	m := registrytest.Meta(obj)
	result, err := e.Store(resource).Update(e.Context(), registry.UpdateRequest{
		Namespace: m.GetNamespace(), Name: m.GetName(), Subresource: subresource,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject().(T)
			change(next)
			return next, nil
		},
	})
	if err != nil {
		return obj, err
	}
	return registrytest.Object(result.Entry).(T), nil
}

// update returns the attributes of an update.
func update(e env, resource string, old, obj runtime.Object) *registry.Attributes {
	m := registrytest.Meta(old)
	return &registry.Attributes{
		Catalog: e.Catalog, Operation: registry.OperationUpdate, Resource: e.Store(resource).Resource(),
		Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj, OldObject: old,
	}
}

// text returns the text of an error, "" for nil.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func dry() registry.WriteOptions { return registry.WriteOptions{DryRun: true} }

func deletion(name string) registry.DeleteRequest {
	return registry.DeleteRequest{Namespace: "x", Name: name, Options: &metav1.DeleteOptions{}}
}
