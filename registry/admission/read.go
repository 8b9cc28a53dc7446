package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// find returns an object from what is at hand. That it is not there counts only
// if a consistent read says so too. It must not be written to.
func find[T runtime.Object](ctx context.Context, store *registry.Store, namespace, name string) (T, error) {
	var none T
	entry, err := store.Get(ctx, namespace, name, "0")
	if apierrors.IsNotFound(err) {
		entry, err = store.Get(ctx, namespace, name, "")
	}
	if err != nil {
		return none, err
	}
	return typed[T](entry)
}

// all returns the objects of another resource from what is at hand, in which
// this server's own writes are; none if the catalog does not have the resource.
// They must not be written to.
func all[T runtime.Object](ctx context.Context, a *registry.Attributes, resource schema.GroupResource, namespace string) ([]T, error) {
	store, ok := a.Store.Sibling(resource)
	if !ok {
		return nil, nil
	}
	page, err := store.List(ctx, registry.ListRequest{Namespace: namespace, ResourceVersion: "0"})
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
