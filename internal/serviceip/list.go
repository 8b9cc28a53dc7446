package serviceip

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// listAll returns the objects of a resource in all namespaces, at a resourceVersion. They must not
// be modified.
func listAll[T runtime.Object](ctx context.Context, lookup registry.Lookup, resource schema.GroupResource, resourceVersion string) ([]T, error) {
	store, err := registry.Require(lookup, resource)
	if err != nil {
		return nil, err
	}
	return registry.ReadAll[T](ctx, store, registry.ListRequest{ResourceVersion: resourceVersion})
}
