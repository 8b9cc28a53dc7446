package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// read returns the latest state of an object, which must not be written to.
func read[T runtime.Object](ctx context.Context, store *registry.Store, namespace, name string) (T, error) {
	var none T
	entry, err := store.Get(ctx, namespace, name, "")
	if err != nil {
		return none, err
	}
	obj, err := entry.Object()
	if err != nil {
		return none, err
	}
	typed, ok := obj.(T)
	if !ok {
		return none, apierrors.NewInternalError(fmt.Errorf("stored object %s is a %T", name, obj))
	}
	return typed, nil
}

// sibling finds the store of another kind of this group.
func sibling(store *registry.Store, resource string) (*registry.Store, error) {
	name := corev1.Resource(resource)
	if found, ok := store.Sibling(name); ok {
		return found, nil
	}
	return nil, notServed(name)
}

// notServed is for resources which a catalog may leave out.
func notServed(name schema.GroupResource) error {
	return apierrors.NewInternalError(fmt.Errorf("this server has no %s", name))
}
