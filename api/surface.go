package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/openapi"
	"github.com/miniapi/miniapi/internal/weakmap"
	"github.com/miniapi/miniapi/registry"
)

// surface is what a catalog looks like from outside at one time. Documents are
// built when they are first asked for.
//
// Invariant: it never changes after it is built.
type surface struct {
	content   content
	elsewhere map[string]*registry.Remote // who has OpenAPI documents, by their names
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
	openID    bool
}

func contentOf(snapshot *registry.Snapshot, config Config) content {
	c := content{
		groups: snapshot.Groups, remotes: snapshot.Remotes(), scheme: config.Scheme,
		release: openapi.Release(config.Version), openID: config.OpenID != nil,
	}
	for _, store := range snapshot.Stores() {
		c.resources = append(c.resources, store.Resource())
	}
	return c
}

// key is the same for contents that look the same: resources do not change.
func (c content) key() string {
	var key strings.Builder
	fmt.Fprintf(&key, "%s %t %p", c.release, c.openID, c.scheme)
	for _, r := range c.resources {
		fmt.Fprintf(&key, " %p", r)
	}
	if len(c.remotes) > 0 { // which no other server has
		fmt.Fprintf(&key, " %p", c.remotes)
	}
	return key.String()
}

func newSurface(c content) *surface {
	elsewhere := c.documented()
	links := map[string]string{}
	for name, remote := range elsewhere {
		links[name] = remote.OpenAPI[name]
	}
	return &surface{
		content:   c,
		elsewhere: elsewhere,
		discovery: sync.OnceValue(func() *discovery { return buildDiscovery(c) }),
		openapi: openapi.New(openapi.Config{
			Groups: c.groups, Resources: c.resources, Scheme: c.scheme, Release: c.release, OpenID: c.openID,
			PatchTypes: openAPIPatchTypes(), Elsewhere: links,
		}),
	}
}

// documented are the servers that have OpenAPI documents, by the names of those.
// None is about a group that is built in, or of a server that does not answer.
func (c content) documented() map[string]*registry.Remote {
	documents := map[string]*registry.Remote{}
	for _, remote := range c.remotes {
		builtIn := slices.ContainsFunc(c.groups, func(g registry.Group) bool { return g.Name == remote.Group && !g.Custom })
		if builtIn || remote.Stale {
			continue
		}
		for name := range remote.OpenAPI {
			documents[name] = remote
		}
	}
	return documents
}

// surfaces are shared between the servers of a process, for most serve the same
// resources, and a test suite has many servers. No outcome depends on it.
var surfaces weakmap.Map[string, surface]

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
	if s := i.current.Load(); s != nil && s.generation == snapshot.Generation {
		return s.surface
	}
	c := contentOf(snapshot, i.config)
	s := surfaces.Of(c.key(), func() *surface { return newSurface(c) })
	i.current.Store(&currentSurface{s, snapshot.Generation})
	return s
}
