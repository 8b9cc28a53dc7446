package registry

import (
	"fmt"
	"log/slog"
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
	Cache     Cache
	Admission Chain
	// Hooks of single resources. They are not in a resource's strategy, which
	// servers share, but here: what they hand out belongs to one cluster.
	Hooks      map[schema.GroupResource]Hooks
	Authorizer Authorizer // nil: AlwaysAllow
	Tokens     Tokens     // nil: no token is issued, and none is known
	// Types knows how the fields of objects belong together. Nil: nobody keeps
	// account of who manages which field, and nothing can be applied.
	Types managedfields.TypeConverter
	// MaxObjectBytes is how large an object the storage takes. 0: it has to be
	// tried.
	MaxObjectBytes int
	// Logger reports writes that cannot be ended. Nil: nothing is logged.
	Logger *slog.Logger
}

// Cache is what storage/watchcache is to a catalog.
type Cache interface {
	// Store answers reads of the keys below root instead of next.
	Store(root string, codec storage.Codec, next storage.Interface) storage.Interface
	// Remove is told that nobody reads those keys with that codec any more.
	Remove(root string, codec storage.Codec)
}

// Catalog holds the stores of one server. Routing, discovery and OpenAPI all
// read it, and it may change while they do. Safe for concurrent use.
type Catalog struct {
	config   CatalogConfig
	recovery *recovery
	mu       sync.Mutex // serialises writers of what follows
	remotes  []*Remote
	current  atomic.Pointer[Snapshot]
}

// Snapshot is the content of a catalog at one time.
//
// Invariant: it never changes after it is published.
type Snapshot struct {
	// Generation rises with every change of the catalog.
	Generation uint64
	// Groups in the order of discovery.
	Groups []Group
	// preferred stores are those of the first resource of a name, served those of
	// each version.
	preferred map[schema.GroupResource]*Store
	served    map[schema.GroupVersionResource]*Store
	order     []*Store
	remotes   map[schema.GroupVersion]*Remote // nil where there is none
}

// Group is an API group and its versions, the preferred one first.
type Group struct {
	Name     string
	Versions []string
	// Custom groups have nothing but custom resources and what other servers
	// serve.
	Custom bool
}

// NewCatalog returns an empty catalog.
func NewCatalog(config CatalogConfig) *Catalog {
	if config.Authorizer == nil {
		config.Authorizer = AlwaysAllow{}
	}
	c := &Catalog{config: config, recovery: newRecovery(config.Logger)}
	c.current.Store(&Snapshot{})
	return c
}

// Snapshot returns the current content.
func (c *Catalog) Snapshot() *Snapshot {
	return c.current.Load()
}

// Lookup returns the store of a resource in the current content.
func (c *Catalog) Lookup(name schema.GroupResource) (*Store, bool) { return c.Snapshot().Store(name) }

// Authorizer returns who decides on access.
func (c *Catalog) Authorizer() Authorizer { return c.config.Authorizer }

// Add puts resources behind those that are there. It fails, and changes
// nothing, if a version of one of them is there already.
func (c *Catalog) Add(resources ...*Resource) error { return c.Replace(nil, resources) }

// Replace takes resources out, as far as they are there, and puts others behind
// those that stay, in one step. Watches of what is taken out end. It fails, and
// changes nothing, if a version of a new one is there already.
func (c *Catalog) Replace(old, resources []*Resource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var kept, gone []*Store
	for _, s := range c.current.Load().order {
		if slices.Contains(old, s.resource) {
			gone = append(gone, s)
		} else {
			kept = append(kept, s)
		}
	}
	for _, r := range resources {
		if taken := takenVersion(kept, r); taken != "" {
			return fmt.Errorf("version %s of resource %s is in the catalog already", taken, r.GroupResource())
		}
		kept = append(kept, newStore(r, c))
	}
	c.publish(kept)
	for _, s := range gone {
		s.retire(kept)
	}
	return nil
}

// takenVersion returns a version of a resource that one of the stores serves.
func takenVersion(stores []*Store, r *Resource) string {
	for _, s := range stores {
		if s.resource.GroupResource() != r.GroupResource() {
			continue
		}
		for _, v := range r.Versions {
			if _, taken := s.resource.Version(v.Name); taken {
				return v.Name
			}
		}
	}
	return ""
}

// publish is called with mu held.
func (c *Catalog) publish(stores []*Store) {
	next := &Snapshot{
		Generation: c.current.Load().Generation + 1,
		preferred:  make(map[schema.GroupResource]*Store, len(stores)),
		served:     make(map[schema.GroupVersionResource]*Store, len(stores)),
		order:      stores,
	}
	for _, s := range stores {
		next.add(s)
	}
	for _, r := range c.remotes {
		next.addRemote(r)
	}
	next.sortGroups()
	c.current.Store(next)
}

func (s *Snapshot) add(store *Store) {
	r := store.resource
	name := r.GroupResource()
	if _, known := s.preferred[name]; !known {
		s.preferred[name] = store
	}
	group := s.group(r.Group, r.Custom)
	for _, v := range r.Versions {
		s.served[name.WithVersion(v.Name)] = store
		if !slices.Contains(group.Versions, v.Name) {
			group.Versions = append(group.Versions, v.Name)
		}
	}
}

// group finds a group, or adds it.
func (s *Snapshot) group(name string, custom bool) *Group {
	i := slices.IndexFunc(s.Groups, func(g Group) bool { return g.Name == name })
	if i < 0 {
		i = len(s.Groups)
		s.Groups = append(s.Groups, Group{Name: name, Custom: custom})
	}
	return &s.Groups[i]
}

// Store finds the store of a resource, whichever version that serves.
func (s *Snapshot) Store(name schema.GroupResource) (*Store, bool) {
	store, ok := s.preferred[name]
	return store, ok
}

// Served finds the store that serves a version of a resource.
func (s *Snapshot) Served(name schema.GroupVersionResource) (*Store, bool) {
	store, ok := s.served[name]
	return store, ok
}

// Stores returns all stores in the order of discovery. The slice must not be
// written to.
func (s *Snapshot) Stores() []*Store { return s.order }

// Detached returns a store of a resource that is not in the catalog, and what
// ends it.
func (c *Catalog) Detached(r *Resource) (store *Store, end func()) {
	s := newStore(r, c)
	return s, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		s.retire(c.current.Load().order)
	}
}
