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
	// stores holds the first store of each resource name.
	stores  map[schema.GroupResource]*Store
	served  map[schema.GroupVersionResource]Interface
	order   []Interface
	remotes map[schema.GroupVersion]*Remote // nil without remotes
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

// Authorizer returns the authorizer of the server.
func (c *Catalog) Authorizer() Authorizer { return c.config.Authorizer }

// Tokens returns the issuer of service account tokens, nil without one.
func (c *Catalog) Tokens() Tokens { return c.config.Tokens }

// Storage returns the storage of objects that are not a resource, such as the allocated ports.
func (c *Catalog) Storage(codec storage.Codec) storage.Interface { return c.config.Storage(codec) }

// Add puts resources behind those that are there. It fails, and changes
// nothing, if a version of one of them is there already.
func (c *Catalog) Add(resources ...*Resource) error { return c.Replace(nil, resources) }

// Replace takes resources out, as far as they are there, and puts others behind
// those that stay, in one step. Watches of what is taken out end. It fails, and
// changes nothing, if a version of a new one is there already.
func (c *Catalog) Replace(old, resources []*Resource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next, removed []Interface
	for _, served := range c.current.Load().order {
		if slices.Contains(old, served.Resource()) {
			removed = append(removed, served)
		} else {
			next = append(next, served)
		}
	}
	for _, r := range resources {
		if version := servedVersion(next, r); version != "" {
			return fmt.Errorf("version %s of resource %s is in the catalog already", version, r.GroupResource())
		}
		next = append(next, c.serve(r))
	}
	c.publish(next)
	for _, s := range storesOf(removed) {
		s.retire(storesOf(next))
	}
	return nil
}

func (c *Catalog) serve(r *Resource) Interface {
	if r.Virtual != nil {
		return newVirtualStore(r, c)
	}
	return newStore(r, c)
}

// servedVersion returns a version of r that is in the list, "" if none is.
func servedVersion(list []Interface, r *Resource) string {
	for _, served := range list {
		if served.Resource().GroupResource() != r.GroupResource() {
			continue
		}
		for _, v := range r.Versions {
			if _, ok := served.Resource().Version(v.Name); ok {
				return v.Name
			}
		}
	}
	return ""
}

// publish is called with mu held.
func (c *Catalog) publish(order []Interface) {
	next := &Snapshot{
		Generation: c.current.Load().Generation + 1,
		stores:     make(map[schema.GroupResource]*Store, len(order)),
		served:     make(map[schema.GroupVersionResource]Interface, len(order)),
		order:      order,
	}
	for _, s := range order {
		next.add(s)
	}
	for _, r := range c.remotes {
		next.addRemote(r)
	}
	next.sortGroups()
	c.current.Store(next)
}

func (s *Snapshot) add(served Interface) {
	r := served.Resource()
	name := r.GroupResource()
	if store, ok := served.(*Store); ok && s.stores[name] == nil {
		s.stores[name] = store
	}
	group := s.group(r.Group, r.Custom)
	for _, v := range r.Versions {
		s.served[name.WithVersion(v.Name)] = served
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

// Detached returns a store of a resource that is not in the catalog, and a function that ends it.
func (c *Catalog) Detached(r *Resource) (store *Store, end func()) {
	s := newStore(r, c)
	return s, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		s.retire(storesOf(c.current.Load().order))
	}
}
