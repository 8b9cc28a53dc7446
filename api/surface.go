package api

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/openapi"
	"github.com/miniapi/miniapi/registry"
)

// surface is what a catalog looks like from outside at one time. Documents are
// built when they are first asked for.
//
// Invariant: it never changes after it is built.
type surface struct {
	content   content
	discovery func() *discovery
	openapi   *openapi.Documents
}

// content is what a surface is made from. It is not the snapshot, which would
// keep the stores of a server that is long gone. To keep the resources is right:
// no other can take their place in memory while the surface is found by their
// addresses.
type content struct {
	groups    []registry.Group
	resources []*registry.Resource
	remotes   map[schema.GroupVersion]*registry.Remote
	scheme    *runtime.Scheme
	release   string
}

func contentOf(snapshot *registry.Snapshot, config Config) content {
	c := content{groups: snapshot.Groups, remotes: snapshot.Remotes(), scheme: config.Scheme, release: openapi.Release(config.Version)}
	for _, store := range snapshot.Stores() {
		c.resources = append(c.resources, store.Resource())
	}
	return c
}

// typed is the part of the content that has Go types.
func (c content) typed() openapi.Config {
	config := openapi.Config{Scheme: c.scheme, Release: c.release}
	for _, g := range c.groups {
		if !g.Custom {
			config.Groups = append(config.Groups, g)
		}
	}
	for _, r := range c.resources {
		if !r.Custom {
			config.Resources = append(config.Resources, r)
		}
	}
	return config
}

// key is the same for contents that look the same: resources do not change.
func (c content) key() string {
	var key strings.Builder
	fmt.Fprintf(&key, "%s %p", c.release, c.scheme)
	for _, r := range c.resources {
		fmt.Fprintf(&key, " %p", r)
	}
	if len(c.remotes) > 0 { // which no other server has
		fmt.Fprintf(&key, " %p", c.remotes)
	}
	return key.String()
}

func newSurface(c content) *surface {
	return &surface{
		content:   c,
		discovery: sync.OnceValue(func() *discovery { return buildDiscovery(c) }),
		openapi:   openapi.New(c.typed()),
	}
}

// surfaces are shared between the servers of a process, for most serve the same
// resources, and a test suite has many servers. It is the package's only state,
// holds nothing that a server does not hold, and no outcome depends on it.
var surfaces = sharedSurfaces{known: map[string]weak.Pointer[surface]{}}

type sharedSurfaces struct {
	mu    sync.Mutex // guards known
	known map[string]weak.Pointer[surface]
}

// of returns the surface of a content.
func (c *sharedSurfaces) of(content content) *surface {
	key := content.key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.known[key].Value(); s != nil {
		return s
	}
	for key, pointer := range c.known {
		if pointer.Value() == nil {
			delete(c.known, key)
		}
	}
	s := newSurface(content)
	c.known[key] = weak.Make(s)
	return s
}

// info holds what the informational endpoints of a server keep.
type info struct {
	config  Config
	current atomic.Pointer[currentSurface]
}

type currentSurface struct {
	*surface
	generation uint64
}

func newInfo(config Config) *info { return &info{config: config} }

// surface of the catalog as it is now.
func (i *info) surface(ctx context.Context) *surface {
	if i.config.Settle != nil {
		i.config.Settle(ctx)
	}
	snapshot := i.config.Catalog.Snapshot()
	if c := i.current.Load(); c != nil && c.generation == snapshot.Generation {
		return c.surface
	}
	s := surfaces.of(contentOf(snapshot, i.config))
	i.current.Store(&currentSurface{s, snapshot.Generation})
	return s
}
