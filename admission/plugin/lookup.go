package plugin

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// getObject returns an object from the watch cache. If the cache does not have it, a consistent
// read decides whether it exists. The object must not be modified.
func getObject[T runtime.Object](ctx context.Context, reader registry.Reader, namespace, name string) (T, error) {
	object, err := getObjectAt[T](ctx, reader, namespace, name, "0")
	if apierrors.IsNotFound(err) {
		object, err = getObjectAt[T](ctx, reader, namespace, name, "")
	}
	return object, err
}

// getObjectAt returns an object at a resource version. It returns NotFound for an invalid name,
// because admission steps see references that are not validated yet.
func getObjectAt[T runtime.Object](ctx context.Context, reader registry.Reader, namespace, name, resourceVersion string) (T, error) {
	if name == "" || len(path.IsValidPathSegmentName(name)) > 0 {
		var none T
		return none, apierrors.NewNotFound(reader.Resource().GroupResource(), name)
	}
	return registry.Read[T](ctx, reader, namespace, name, resourceVersion)
}

// listObjects returns the objects of another resource from the watch cache, which includes the
// writes of this server. It returns none if the catalog does not have the resource. The objects
// must not be modified.
func listObjects[T runtime.Object](ctx context.Context, a *registry.Attributes, resource schema.GroupResource, namespace string) ([]T, error) {
	store, ok := a.Catalog.Store(resource)
	if !ok {
		return nil, nil
	}
	return registry.ReadAll[T](ctx, store, registry.ListRequest{Namespace: namespace, ResourceVersion: "0"})
}

// newest returns the name of the most recently created object that matches, or the first by name
// of several created in the same second.
func newest[T metav1.Object](objects []T, matches func(T) bool) (name string, ok bool) {
	objects = slices.DeleteFunc(objects, func(o T) bool { return !matches(o) })
	if len(objects) == 0 {
		return "", false
	}
	first := slices.MinFunc(objects, func(a, b T) int {
		return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
	})
	return first.GetName(), true
}
