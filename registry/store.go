package registry

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/storage"
)

// Store serves one resource. Safe for concurrent use.
type Store struct {
	resource *Resource
	storage  storage.Interface // nil for a virtual resource
	catalog  *Catalog
	// names makes a name of a generateName, now tells the time.
	names func(base string) string
	now   func() time.Time
	// managers are the field managers made so far, by managerKey.
	managers sync.Map
}

func newStore(r *Resource, c *Catalog) *Store {
	s := &Store{resource: r, catalog: c, names: appendSuffix, now: time.Now}
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

// Authorizer returns who decides on access.
func (s *Store) Authorizer() Authorizer { return s.catalog.Authorizer() }

// Tokens returns who issues and checks tokens, nil if nobody does.
func (s *Store) Tokens() Tokens { return s.catalog.config.Tokens }

// Sibling finds the store of another resource of the same server.
func (s *Store) Sibling(name schema.GroupResource) (*Store, bool) {
	return s.catalog.Snapshot().Store(name)
}

func (s *Store) sharesKeys(other *Store) bool {
	return other.resource.StoragePath == s.resource.StoragePath
}
