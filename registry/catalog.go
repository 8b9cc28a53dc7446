package registry

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/miniapi/miniapi/storage"
)

// CatalogConfig is the configuration that all stores of a catalog share.
type CatalogConfig struct {
	// Storage returns the storage of the objects of a codec.
	Storage func(codec storage.Codec) storage.Interface
	// Wrap wraps the storage of each resource, for example to measure it. Nil: no wrapper.
	Wrap func(s storage.Interface, resource schema.GroupResource) storage.Interface
	// Cache serves reads. Nil: the storage serves them.
	Cache     Cache
	Admission Chain
	// AdmissionObserver observes the runs of Admission. Nil: none.
	AdmissionObserver AdmissionObserver
	// Hooks by resource. They are not part of a resource, which servers share, because their
	// state belongs to one cluster.
	Hooks      map[schema.GroupResource]Hooks
	Authorizer Authorizer // nil: AlwaysAllow
	Tokens     Tokens     // nil: tokens are not supported
	// Conflicts explains conflicts. Nil: a conflict has no causes, as in kube-apiserver.
	Conflicts ConflictExplainer
	// ReadOnly is the reason for which all writes of stored objects are rejected. "": they are not.
	ReadOnly string
	// Clock is the time of the API. Nil: the time of the machine.
	Clock Clock
	// Types has the schemas of the built-in types. Nil: field managers are not tracked and
	// server-side apply is not supported.
	Types managedfields.TypeConverter
	// MaxObjectBytes is the maximum size of a stored object. 0: unknown, the storage rejects
	// objects that are too large.
	MaxObjectBytes int
	// Logger logs transactions that cannot be ended. Nil: nothing is logged.
	Logger *slog.Logger
}

// Cache is the part of storage/watchcache that a catalog uses.
type Cache interface {
	// Store returns a storage that serves reads of the keys below root, and next for the rest.
	Store(root string, codec storage.Codec, next storage.Interface) storage.Interface
	// Remove drops the cached objects of the keys below root in a codec.
	Remove(root string, codec storage.Codec)
	// Follow reports the state and the changes of all keys, see watchcache.Cache.
	Follow(ctx context.Context, report func(changes []storage.Change, upTo int64, complete bool)) error
}

// Catalog holds the resources of one server. Routing, discovery and OpenAPI read it. Safe for
// concurrent use, also while it changes.
type Catalog struct {
	config    CatalogConfig
	recovery  *recovery
	creations creations
	mu        sync.Mutex // guards remotes, changed, and the replacement of current
	remotes   []*Remote
	// changed is closed and replaced with each change of the content.
	changed chan struct{}
	current atomic.Pointer[Snapshot]
}

// Snapshot is the content of a catalog at one time.
//
// Invariant: it never changes after it is published.
type Snapshot struct {
	// Generation increases with every change of the catalog.
	Generation uint64
	// Groups in the order of discovery.
	Groups []Group
	// stores holds the first store of each resource name.
	stores  map[schema.GroupResource]*Store
	served  map[schema.GroupVersionResource]Interface
	order   []Interface
	remotes map[schema.GroupVersion]*Remote // nil without remotes
	// paths returns the stores by storage path.
	paths func() map[string]*Store
}

// Group is an API group and its versions, the preferred one first.
type Group struct {
	Name     string
	Versions []string
	// Custom is set for a group that has only custom resources and remote versions.
	Custom bool
}

// NewCatalog returns an empty catalog.
func NewCatalog(config CatalogConfig) *Catalog {
	if config.Authorizer == nil {
		config.Authorizer = AlwaysAllow{}
	}
	c := &Catalog{config: config, recovery: newRecovery(config.Logger), changed: make(chan struct{})}
	c.current.Store(&Snapshot{paths: func() map[string]*Store { return nil }})
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

// Add appends resources. If the catalog has a version of one of them, it returns an error and
// changes nothing.
func (c *Catalog) Add(resources ...*Resource) error { return c.Replace(nil, resources) }

// Replace removes old resources and appends new ones in one step. Old resources that the catalog
// does not have are ignored. Watches of removed resources end, and writes of them in progress fail
// if they have not read their last state yet. If the catalog has a version of a new resource, it
// returns an error and changes nothing.
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
	for _, s := range storesOf(removed) {
		s.replaced.Store(true)
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

// publish requires mu.
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
	next.paths = sync.OnceValue(next.storesByPath)
	c.current.Store(next)
	close(c.changed)
	c.changed = make(chan struct{})
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

// group returns a group of the snapshot, which it adds if necessary.
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
