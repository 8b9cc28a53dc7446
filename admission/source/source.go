// Package source keeps the configuration objects of webhooks and policies in compiled form.
package source

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry/informer"
)

// Source holds the compiled form of each object of a resource, one per version of the object.
// It is safe for concurrent use.
type Source[T any] struct {
	config   informer.Config
	informer *informer.Informer
	compile  func(obj runtime.Object) T

	mu sync.Mutex // guards the fields below
	// next is the number of the first write that may not have been read yet, 0 before the first
	// read.
	next uint64
	// values are the compiled forms at a generation of the informer, in the order of names.
	values     []T
	generation uint64
	compiled   map[version]T
}

// version identifies a version of an object.
type version struct {
	key      string
	revision int64
}

// New returns a source of the objects of config.Resource. The function compile must not modify the
// object.
func New[T any](config informer.Config, compile func(obj runtime.Object) T) *Source[T] {
	return &Source[T]{config: config, informer: informer.New(config), compile: compile}
}

// Run watches the objects until ctx ends, and returns nil then. It starts with the first call of
// Current. Without it, the writes of other servers are not seen.
func (s *Source[T]) Run(ctx context.Context) error { return s.informer.Run(ctx) }

// Current returns the compiled forms of all existing objects, ordered by name. A write by this
// server takes effect as soon as it is answered, a write by another server a moment later.
func (s *Source[T]) Current(ctx context.Context) ([]T, error) {
	store, ok := s.config.Lookup(s.config.Resource)
	if !ok {
		return nil, nil
	}
	if err := s.sync(ctx, store.Writes()+1); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled == nil || s.generation != s.informer.Generation() {
		if err := s.update(); err != nil {
			return nil, err
		}
	}
	return s.values, nil
}

// sync does a consistent read, unless this server has written no object since the last one. The
// read may wait for other writes.
func (s *Source[T]) sync(ctx context.Context, next uint64) error {
	s.mu.Lock()
	synced := s.next == next
	s.mu.Unlock()
	if synced {
		return nil
	}
	if err := s.informer.Sync(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = max(s.next, next)
	return nil
}

// update compiles the objects that have changed. It is called with mu held.
func (s *Source[T]) update() error {
	entries, generation := s.informer.List()
	values, compiled := make([]T, len(entries)), make(map[version]T, len(entries))
	for i, entry := range entries {
		v := version{entry.Key, entry.Revision}
		value, ok := s.compiled[v]
		if !ok {
			obj, err := entry.Object()
			if err != nil {
				return apierrors.NewInternalError(err)
			}
			value = s.compile(obj)
		}
		values[i], compiled[v] = value, value
	}
	s.values, s.compiled, s.generation = values, compiled, generation
	return nil
}
