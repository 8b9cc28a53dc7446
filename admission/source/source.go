// Package source reads the configuration of webhooks and policies, which is
// made of objects, for the request that it is to apply to.
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

// Source keeps what is made of the objects of a resource: once for each version
// of each of them. Safe for concurrent use.
type Source[T any] struct {
	resource schema.GroupResource
	make     func(obj runtime.Object) T

	mu sync.Mutex // guards all below
	// next is the number of the first write that may not have been seen yet, 0
	// before anything has been read.
	next uint64
	// made are in the order of their names.
	made []made[T]
}

// made is what one version of an object has become.
type made[T any] struct {
	key      string
	revision int64
	of       T
}

// New returns a source that turns objects, which must not be written to, into
// something else.
func New[T any](resource schema.GroupResource, make func(obj runtime.Object) T) *Source[T] {
	return &Source[T]{resource: resource, make: make}
}

// Current returns what the objects have become that exist at this moment, in
// the order of their names. A write of one counts as soon as it has been
// answered; one that another server has carried out, a moment later.
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

// list reads what is at hand, which takes a microsecond, unless something may
// have been written since the last time that it made sure: that may have to wait
// for what others write.
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
