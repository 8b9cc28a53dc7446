package registry

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/miniapi/miniapi/storage"
)

// CatalogConfig is what all stores of a catalog share.
type CatalogConfig struct {
	// Storage returns the storage of a resource, given how its objects are
	// encoded.
	Storage func(codec storage.Codec) storage.Interface
	// Wrap puts something around the storage of each resource, such as what
	// measures it. Nil: nothing.
	Wrap func(s storage.Interface, resource schema.GroupResource) storage.Interface
	// Cache answers reads. Nil: the storage does.
	Cache      Cache
	Admission  Chain
	Authorizer Authorizer // nil: AlwaysAllow
	Tokens     Tokens     // nil: no token is issued, and none is known
	// Types knows how the fields of objects belong together. Nil: nobody keeps
	// account of who manages which field, and nothing can be applied.
	Types managedfields.TypeConverter
}

// Cache is what storage/watchcache is to a catalog.
type Cache interface {
	// Store answers reads of the keys below root instead of next.
	Store(root string, codec storage.Codec, next storage.Interface) storage.Interface
	// Remove is told that nobody reads those keys any more.
	Remove(root string)
}

// Catalog holds the stores of one server. Routing, discovery and OpenAPI all
// read it, and it may change while they do. Safe for concurrent use.
type Catalog struct {
	config  CatalogConfig
	mu      sync.Mutex // serialises writers of current
	current atomic.Pointer[Snapshot]
}

// Snapshot is the content of a catalog at one time.
//
// Invariant: it never changes after it is published.
type Snapshot struct {
	// Generation rises with every change of the catalog.
	Generation uint64
	// Groups in the order of discovery.
	Groups []Group
	stores map[schema.GroupResource]*Store
	order  []*Store
}

// Group is an API group and its versions, the preferred one first.
type Group struct {
	Name     string
	Versions []string
}

// NewCatalog returns an empty catalog.
func NewCatalog(config CatalogConfig) *Catalog {
	if config.Authorizer == nil {
		config.Authorizer = AlwaysAllow{}
	}
	c := &Catalog{config: config}
	c.current.Store(&Snapshot{stores: map[schema.GroupResource]*Store{}})
	return c
}

// Snapshot returns the current content.
func (c *Catalog) Snapshot() *Snapshot {
	return c.current.Load()
}

// Authorizer returns who decides on access.
func (c *Catalog) Authorizer() Authorizer { return c.config.Authorizer }

// Add puts resources behind those that are there. It fails, and changes
// nothing, if one of them is there already.
func (c *Catalog) Add(resources ...*Resource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	stores := slices.Clone(c.current.Load().order)
	for _, r := range resources {
		taken := func(s *Store) bool { return s.resource.GroupResource() == r.GroupResource() }
		if slices.ContainsFunc(stores, taken) {
			return fmt.Errorf("resource %s is in the catalog already", r.GroupResource())
		}
		stores = append(stores, newStore(r, c))
	}
	c.publish(stores)
	return nil
}

// Remove takes a resource out; it does nothing if the resource is not there.
func (c *Catalog) Remove(name schema.GroupResource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stores := slices.Clone(c.current.Load().order)
	stores = slices.DeleteFunc(stores, func(s *Store) bool { return s.resource.GroupResource() == name })
	gone, known := c.current.Load().stores[name]
	c.publish(stores)
	if known && c.config.Cache != nil && !slices.ContainsFunc(stores, gone.sharesKeys) {
		c.config.Cache.Remove(gone.root())
	}
}

// publish is called with mu held.
func (c *Catalog) publish(stores []*Store) {
	next := &Snapshot{
		Generation: c.current.Load().Generation + 1,
		stores:     make(map[schema.GroupResource]*Store, len(stores)),
		order:      stores,
	}
	for _, s := range stores {
		next.stores[s.resource.GroupResource()] = s
		next.addVersions(s.resource)
	}
	c.current.Store(next)
}

func (s *Snapshot) addVersions(r *Resource) {
	i := slices.IndexFunc(s.Groups, func(g Group) bool { return g.Name == r.Group })
	if i < 0 {
		i = len(s.Groups)
		s.Groups = append(s.Groups, Group{Name: r.Group})
	}
	for _, v := range r.Versions {
		if !slices.Contains(s.Groups[i].Versions, v.Name) {
			s.Groups[i].Versions = append(s.Groups[i].Versions, v.Name)
		}
	}
}

// Store finds the store of a resource.
func (s *Snapshot) Store(name schema.GroupResource) (*Store, bool) {
	store, ok := s.stores[name]
	return store, ok
}

// Stores returns all stores in the order of discovery. The slice must not be
// written to.
func (s *Snapshot) Stores() []*Store { return s.order }
