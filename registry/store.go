package registry

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/storage"
)

// Store serves one resource. Safe for concurrent use.
type Store struct {
	resource *Resource
	storage  storage.Interface // nil for a virtual resource
	catalog  *Catalog
	hooks    Hooks
	// names makes a name of a generateName, now tells the time.
	names func(base string) string
	now   func() time.Time
	// managers are the field managers made so far, by managerKey.
	managers sync.Map
	// served ends when the resource is taken out of the catalog.
	served context.Context
	end    context.CancelFunc
	writes atomic.Uint64
}

func newStore(r *Resource, c *Catalog) *Store {
	s := &Store{resource: r, catalog: c, hooks: c.config.Hooks[r.GroupResource()], names: appendSuffix, now: time.Now}
	s.served, s.end = context.WithCancel(context.Background())
	if r.Virtual != nil {
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

// Resource returns what the store serves.
func (s *Store) Resource() *Resource { return s.resource }

// Writes counts the writes that this server has carried out or tried. A write is
// counted before it is answered: while the number stays the same, whatever was
// read after it is not older than what any client has been told.
func (s *Store) Writes() uint64 { return s.writes.Load() }

// Authorizer returns who decides on access.
func (s *Store) Authorizer() Authorizer { return s.catalog.Authorizer() }

// Tokens returns who issues and checks tokens, nil if nobody does.
func (s *Store) Tokens() Tokens { return s.catalog.config.Tokens }

// Storage returns that of objects which belong to the same server and are no
// resource, such as the account of the ports that are taken.
func (s *Store) Storage(codec storage.Codec) storage.Interface {
	return s.catalog.config.Storage(codec)
}

// Sibling finds the store of another resource of the same server.
func (s *Store) Sibling(name schema.GroupResource) (*Store, bool) {
	return s.catalog.Snapshot().Store(name)
}

// retire ends what goes on in the store, of which those that are kept know
// nothing.
func (s *Store) retire(kept []*Store) {
	s.end()
	shared := func(other *Store) bool { return other.sharesKeys(s) && other.resource.Codec == s.resource.Codec }
	if cache := s.catalog.config.Cache; cache != nil && s.storage != nil && !slices.ContainsFunc(kept, shared) {
		cache.Remove(s.root(), s.resource.Codec)
	}
}

// whileServed returns a context that ends with ctx, or when the resource is
// taken out of the catalog.
func (s *Store) whileServed(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(s.served, cancel)
	context.AfterFunc(ctx, func() { forget() })
	return ctx
}

// OfKind finds the store, of the same server, that serves objects of a kind, and
// the version in which it does.
func (s *Store) OfKind(kind schema.GroupVersionKind) (*Store, Version, bool) {
	for _, other := range s.catalog.Snapshot().Stores() {
		if other.resource.GroupKind() != kind.GroupKind() {
			continue
		}
		if version, ok := other.resource.Version(kind.Version); ok {
			return other, version, true
		}
	}
	return nil, Version{}, false
}

// KindsOf returns the kinds of the objects that the same server has under a
// resource's name in a version. The group "" is any.
func (s *Store) KindsOf(resource schema.GroupVersionResource) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, other := range s.catalog.Snapshot().Stores() {
		r := other.resource
		if r.Name != resource.Resource || resource.Group != "" && r.Group != resource.Group {
			continue
		}
		if _, ok := r.Version(resource.Version); ok {
			kinds = append(kinds, schema.GroupVersionKind{Group: r.Group, Version: resource.Version, Kind: r.Kind})
		}
	}
	return kinds
}

// Equivalents returns the stores of the same server that serve the same objects,
// this one among them.
func (s *Store) Equivalents() []*Store {
	var same []*Store
	for _, other := range s.catalog.Snapshot().Stores() {
		if other == s || other.sharesKeys(s) && s.resource.Virtual == nil && other.resource.Virtual == nil {
			same = append(same, other)
		}
	}
	return same
}

func (s *Store) sharesKeys(other *Store) bool {
	return other.resource.StoragePath == s.resource.StoragePath
}
