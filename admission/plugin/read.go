package plugin

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// find returns an object from what is at hand. That it is not there counts only
// if a consistent read says so too. It must not be written to.
func find[T runtime.Object](ctx context.Context, store *registry.Store, namespace, name string) (T, error) {
	object, err := read[T](ctx, store, namespace, name, "0")
	if apierrors.IsNotFound(err) {
		object, err = read[T](ctx, store, namespace, name, "")
	}
	return object, err
}

// read returns an object that another one names. What cannot be a name is one of
// nothing: steps see objects that nobody has validated.
func read[T runtime.Object](ctx context.Context, store *registry.Store, namespace, name, resourceVersion string) (T, error) {
	if name == "" || len(path.IsValidPathSegmentName(name)) > 0 {
		var none T
		return none, apierrors.NewNotFound(store.Resource().GroupResource(), name)
	}
	return registry.Read[T](ctx, store, namespace, name, resourceVersion)
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
