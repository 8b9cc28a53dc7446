package allocation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// sibling finds the store of another resource of the same server.
func sibling(store *registry.Store, resource schema.GroupResource) (*registry.Store, error) {
	if found, ok := store.Sibling(resource); ok {
		return found, nil
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("this server has no %s", resource))
}

// read returns the latest state of an object, which must not be written to.
func read[T runtime.Object](ctx context.Context, store *registry.Store, namespace, name string) (T, error) {
	var none T
	entry, err := store.Get(ctx, namespace, name, "")
	if err != nil {
		return none, err
	}
	return typed[T](entry)
}

// all returns the objects of a resource at a version, in all namespaces. They
// must not be written to.
func all[T runtime.Object](ctx context.Context, store *registry.Store, resource schema.GroupResource, resourceVersion string) ([]T, error) {
	store, err := sibling(store, resource)
	if err != nil {
		return nil, err
	}
	page, err := store.List(ctx, registry.ListRequest{ResourceVersion: resourceVersion})
	if err != nil {
		return nil, err
	}
	list := make([]T, len(page.Entries))
	for i, entry := range page.Entries {
		if list[i], err = typed[T](entry); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func typed[T runtime.Object](entry *storage.Entry) (T, error) {
	var none T
	obj, err := entry.Object()
	if err != nil {
		return none, apierrors.NewInternalError(err)
	}
	object, ok := obj.(T)
	if !ok {
		return none, apierrors.NewInternalError(fmt.Errorf("%s is stored as %T", entry.Key, obj))
	}
	return object, nil
}
