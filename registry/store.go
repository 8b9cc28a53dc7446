package registry

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/storage"
)

// Store serves one resource over a storage. Safe for concurrent use.
type Store struct {
	base
	storage storage.Interface
	hooks   Hooks
	// names returns a name for a generateName.
	names func(base string) string
	now   func() time.Time
	// served ends when the resource is removed from the catalog.
	served context.Context
	end    context.CancelFunc
	// replaced is set before the catalog serves other resources in place of this one.
	replaced atomic.Bool
	writes   atomic.Uint64
}

func newStore(r *Resource, c *Catalog) *Store {
	s := &Store{hooks: c.config.Hooks[r.GroupResource()], names: appendSuffix, now: c.Now}
	if generate := r.Strategy.Create.GenerateName; generate != nil {
		s.names = generate
	}
	s.resource, s.catalog = r, c
	s.served, s.end = context.WithCancel(context.Background())
	if r.Storage != nil {
		s.storage = r.Storage
		return s
	}
	s.storage = c.config.Storage(r.Codec)
	if c.config.Wrap != nil {
		s.storage = c.config.Wrap(s.storage, r.GroupResource())
	}
	if c.config.Cache != nil {
		s.storage = c.config.Cache.Store(s.root(), r.Codec, s.storage)
	}
	return s
}

// Writes returns the number of writes that this server has tried. A write is counted before its
// response is sent: while the number does not change, data that was read after it is at least as
// new as any response to a client.
func (s *Store) Writes() uint64 { return s.writes.Load() }

// CountWrites counts a write of each store. It must be called after writes that have not passed the
// stores, before their client gets an answer.
func (c *Catalog) CountWrites() {
	for _, s := range storesOf(c.Snapshot().order) {
		s.writes.Add(1)
	}
}

// retire ends the watches of the store. It removes its keys from the cache unless one of the
// remaining stores reads them.
func (s *Store) retire(remaining []*Store) {
	s.replaced.Store(true)
	s.end()
	shared := func(other *Store) bool {
		return other.resource.StoragePath == s.resource.StoragePath && other.resource.Codec == s.resource.Codec
	}
	if cache := s.catalog.config.Cache; cache != nil && !slices.ContainsFunc(remaining, shared) {
		cache.Remove(s.root(), s.resource.Codec)
	}
}

// checkReplaced returns an error if the catalog has removed or replaced the resource. A write calls
// it with every state that it reads, before it computes the next state. Otherwise a write that
// began before a change of the schema of a custom resource would read a later state by the old
// schema, and remove the new fields. Clients repeat the request, which has written nothing.
func (s *Store) checkReplaced() error {
	if s.replaced.Load() {
		return apierrors.NewTooManyRequests("the definition of "+s.resource.GroupResource().String()+" has changed, please try again", 1)
	}
	return nil
}

// whileServed returns a context that ends with ctx or when the resource is removed from the
// catalog.
func (s *Store) whileServed(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.served, cancel)
	context.AfterFunc(ctx, func() { stop() })
	return ctx
}
