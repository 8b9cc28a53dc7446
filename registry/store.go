package registry

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

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
	writes atomic.Uint64
}

func newStore(r *Resource, c *Catalog) *Store {
	s := &Store{hooks: c.config.Hooks[r.GroupResource()], names: appendSuffix, now: time.Now}
	s.resource, s.catalog = r, c
	s.served, s.end = context.WithCancel(context.Background())
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

// retire ends the watches of the store. It removes its keys from the cache unless one of the
// remaining stores reads them.
func (s *Store) retire(remaining []*Store) {
	s.end()
	shared := func(other *Store) bool {
		return other.resource.StoragePath == s.resource.StoragePath && other.resource.Codec == s.resource.Codec
	}
	if cache := s.catalog.config.Cache; cache != nil && !slices.ContainsFunc(remaining, shared) {
		cache.Remove(s.root(), s.resource.Codec)
	}
}

// whileServed returns a context that ends with ctx or when the resource is removed from the
// catalog.
func (s *Store) whileServed(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.served, cancel)
	context.AfterFunc(ctx, func() { stop() })
	return ctx
}
