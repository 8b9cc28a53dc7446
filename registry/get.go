package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Get returns an object. resourceVersion "" reads the latest state, "0" any cached state, and N a
// state at least as new as N.
func (s *Store) Get(ctx context.Context, namespace, name, resourceVersion string) (_ *storage.Entry, err error) {
	ctx, end := s.span(ctx, "get")
	defer end(&err)
	key, err := s.key(namespace, name)
	if err != nil {
		return nil, err
	}
	entry, err := s.storage.Get(ctx, key, storage.GetOptions{ResourceVersion: resourceVersion})
	if err != nil {
		return nil, s.call("get", name, key).interpret(err)
	}
	return entry, nil
}

// GetSubresource returns the object, or the subresource's view of it.
func (s *Store) GetSubresource(ctx context.Context, namespace, name, subresource string) (*storage.Entry, error) {
	sub, ok := s.resource.Subresource(subresource)
	if !ok || sub.Update == nil && sub.View == nil {
		return nil, s.unsupported("get")
	}
	entry, err := s.Get(ctx, namespace, name, "")
	if err != nil || sub.View == nil {
		return entry, err
	}
	if sub.View.Read != nil {
		return s.viewEntry(ctx, entry, sub.View.Read)
	}
	return s.viewEntry(ctx, entry, sub.View.FromObject)
}

// viewEntry returns the view of a stored object.
func (s *Store) viewEntry(ctx context.Context, stored *storage.Entry, view func(runtime.Object) (runtime.Object, error)) (*storage.Entry, error) {
	obj, err := stored.ObjectContext(ctx)
	if err != nil {
		return nil, s.call("get", "", stored.Key).interpret(err)
	}
	shown, err := view(obj)
	if err != nil {
		return nil, err
	}
	return computedEntry(shown), nil
}

// computedEntry returns the entry of an object that is not stored.
func computedEntry(obj runtime.Object) *storage.Entry {
	key := ""
	if accessor, err := meta.Accessor(obj); err == nil {
		key = accessor.GetName()
	}
	return storage.NewEntry(key, 0, func() (runtime.Object, error) { return obj, nil })
}
