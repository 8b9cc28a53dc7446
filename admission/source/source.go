// Package source keeps the configuration objects of webhooks and policies in compiled form.
package source

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// Source holds the compiled form of each object of a resource, one per version of the object.
// It is safe for concurrent use.
type Source[T any] struct {
	resource schema.GroupResource
	make     func(obj runtime.Object) T

	mu sync.Mutex // guards all below
	// next is the number of the first write that may not have been read yet, 0 before the first
	// read.
	next uint64
	// made is ordered by name.
	made []made[T]
}

// made is the compiled form of one version of an object.
type made[T any] struct {
	key      string
	revision int64
	of       T
}

// New returns a source with a function that compiles an object. The function must not modify
// the object.
func New[T any](resource schema.GroupResource, make func(obj runtime.Object) T) *Source[T] {
	return &Source[T]{resource: resource, make: make}
}

// Current returns the compiled forms of all existing objects, ordered by name. A write by this
// server takes effect as soon as it is answered, a write by another server a moment later.
func (s *Source[T]) Current(ctx context.Context, from *registry.Store) ([]T, error) {
	store, ok := from.Sibling(s.resource)
	if !ok {
		return nil, nil
	}
	page, err := s.list(ctx, store)
	if err != nil || len(page.Entries) == 0 {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := make([]made[T], len(page.Entries))
	result := make([]T, len(page.Entries))
	for i, entry := range page.Entries {
		next[i] = made[T]{key: entry.Key, revision: entry.Revision}
		if at := slices.IndexFunc(s.made, next[i].same); at >= 0 {
			next[i].of = s.made[at].of
		} else {
			obj, err := entry.Object()
			if err != nil {
				return nil, apierrors.NewInternalError(err)
			}
			next[i].of = s.make(obj)
		}
		result[i] = next[i].of
	}
	s.made = next
	return result, nil
}

// list reads the cache as it is, which takes a microsecond, unless a write may have happened
// since the last consistent read. Then it does a consistent read, which may wait for other
// writes.
func (s *Source[T]) list(ctx context.Context, store *registry.Store) (*storage.Page, error) {
	next := store.Writes() + 1
	s.mu.Lock()
	sure := s.next == next
	s.mu.Unlock()
	if sure {
		return store.List(ctx, registry.ListRequest{ResourceVersion: "0"})
	}
	page, err := store.List(ctx, registry.ListRequest{})
	if err == nil {
		s.mu.Lock()
		s.next = max(s.next, next)
		s.mu.Unlock()
	}
	return page, err
}

func (m made[T]) same(other made[T]) bool { return m.key == other.key && m.revision == other.revision }
