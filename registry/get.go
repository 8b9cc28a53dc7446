package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Get returns an object. resourceVersion "" reads the latest state, "0"
// whatever is at hand, and N a state not older than N.
func (s *Store) Get(ctx context.Context, namespace, name, resourceVersion string) (*storage.Entry, error) {
	if s.resource.Virtual != nil {
		return s.getVirtual(ctx, name)
	}
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

// GetSubresource returns an object as one of its subresources shows it: the
// object itself, or the subresource's view of it.
func (s *Store) GetSubresource(ctx context.Context, namespace, name, subresource string) (runtime.Object, error) {
	sub, ok := s.resource.Subresource(subresource)
	if !ok || sub.Update == nil && sub.View == nil {
		return nil, s.unsupported("get")
	}
	entry, err := s.Get(ctx, namespace, name, "")
	if err != nil {
		return nil, err
	}
	obj, err := s.objectOf(entry)
	if err != nil {
		return nil, err
	}
	if sub.View != nil {
		return sub.View.FromObject(obj)
	}
	return obj, nil
}

// objectOf decodes an entry; stored bytes that cannot be read are a 500.
func (s *Store) objectOf(entry *storage.Entry) (runtime.Object, error) {
	obj, err := entry.Object()
	return obj, CorruptError(err)
}
