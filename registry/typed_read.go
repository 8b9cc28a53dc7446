package registry

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Read is Get for a known Go type of the hub. The object must not be modified.
func Read[T runtime.Object](ctx context.Context, reader Reader, namespace, name, resourceVersion string) (T, error) {
	entry, err := reader.Get(ctx, namespace, name, resourceVersion)
	if err != nil {
		var none T
		return none, err
	}
	return As[T](entry)
}

// ReadAll is List for a known Go type of the hub. The objects must not be modified.
func ReadAll[T runtime.Object](ctx context.Context, reader Reader, req ListRequest) ([]T, error) {
	page, err := reader.List(ctx, req)
	if err != nil {
		return nil, err
	}
	list := make([]T, len(page.Entries))
	for i, entry := range page.Entries {
		if list[i], err = As[T](entry); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// As returns the object of an entry, which must not be modified. It is an internal error if the
// object cannot be decoded or has another type.
func As[T runtime.Object](entry *storage.Entry) (T, error) {
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
