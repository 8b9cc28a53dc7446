package admission

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// find returns an object from what is at hand. That it is not there counts only
// if a consistent read says so too. It must not be written to.
func find[T runtime.Object](ctx context.Context, store *registry.Store, namespace, name string) (T, error) {
	object, err := registry.Read[T](ctx, store, namespace, name, "0")
	if apierrors.IsNotFound(err) {
		object, err = registry.Read[T](ctx, store, namespace, name, "")
	}
	return object, err
}

// all returns the objects of another resource from what is at hand, in which
// this server's own writes are; none if the catalog does not have the resource.
// They must not be written to.
func all[T runtime.Object](ctx context.Context, a *registry.Attributes, resource schema.GroupResource, namespace string) ([]T, error) {
	store, ok := a.Store.Sibling(resource)
	if !ok {
		return nil, nil
	}
	return registry.ReadAll[T](ctx, store, registry.ListRequest{Namespace: namespace, ResourceVersion: "0"})
}
