package discovery

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

// Config configures a Cache. All fields except Sync are required.
type Config struct {
	// Catalog holds the resources to describe.
	Catalog *registry.Catalog
	// Scheme holds the Go types of the built-in kinds.
	Scheme *runtime.Scheme
	// Release of Kubernetes, such as "1.36".
	Release string
	// OpenID reports whether the server publishes the keys of its tokens.
	OpenID bool
	// CBOR reports whether the server supports CBOR.
	CBOR bool
	// PatchTypes are the content types of patches.
	PatchTypes []openapi.PatchType
	// Sync blocks until the catalog serves every resource defined before the call, or until its
	// context is done. Nil: the catalog is always up to date.
	Sync func(ctx context.Context)
}

// Cache holds the documents of the current state of a catalog. Safe for concurrent use.
type Cache struct {
	config  Config
	current atomic.Pointer[generation]
}

// generation holds the documents of one generation of the catalog.
type generation struct {
	number    uint64
	documents *Documents
}

// NewCache returns an empty Cache.
func NewCache(config Config) *Cache { return &Cache{config: config} }

// shared holds the documents that the servers of a process share: most serve the same resources,
// and a test suite has many servers. It saves memory and has no other effect.
var shared weakmap.Map[string, Documents]

// Documents returns the documents of the current state of the catalog.
func (c *Cache) Documents(ctx context.Context) *Documents {
	if c.config.Sync != nil {
		c.config.Sync(ctx)
	}
	snapshot := c.config.Catalog.Snapshot()
	if g := c.current.Load(); g != nil && g.number == snapshot.Generation {
		return g.documents
	}
	content := contentOf(snapshot, c.config)
	documents := shared.Of(content.key(), func() *Documents { return newDocuments(content) })
	c.current.Store(&generation{snapshot.Generation, documents})
	return documents
}

// Documents holds the documents of one state of a catalog. Each is built when it is first
// requested. Safe for concurrent use.
//
// Invariant: Documents are immutable.
type Documents struct {
	content   content
	discovery func() *discovery
	openapi   *openapi.Documents
	remotes   map[string]*registry.Remote // servers of further OpenAPI documents, by path
}

// OpenAPI returns the OpenAPI documents of this server.
func (d *Documents) OpenAPI() *openapi.Documents { return d.openapi }

// RemoteOpenAPI returns the server that has the OpenAPI document of a path such as
// "apis/GROUP/VERSION". ok is false if it is this server, or if there is no such document.
func (d *Documents) RemoteOpenAPI(path string) (remote *registry.Remote, ok bool) {
	remote, ok = d.remotes[path]
	return remote, ok
}

func newDocuments(c content) *Documents {
	remotes, links := c.remoteOpenAPI(), map[string]string{}
	for path, remote := range remotes {
		links[path] = remote.OpenAPI[path]
	}
	return &Documents{
		content:   c,
		remotes:   remotes,
		discovery: sync.OnceValue(func() *discovery { return buildDiscovery(c) }),
		openapi: openapi.New(openapi.Config{
			Groups: c.groups, Resources: c.resources, Scheme: c.config.Scheme, Release: c.config.Release,
			OpenID: c.config.OpenID, CBOR: c.config.CBOR, PatchTypes: c.config.PatchTypes, RemoteDocuments: links,
		}),
	}
}

// content is the input of Documents. It does not refer to the snapshot, which refers to the stores
// of a server and would keep them in memory after the server has stopped.
//
// Invariant: content refers to its resources, so that their addresses, which are parts of the key,
// are not reused while the Documents exist.
type content struct {
	config    documentConfig
	groups    []registry.Group
	resources []*registry.Resource
	remotes   map[schema.GroupVersion]*registry.Remote
}

// documentConfig is the part of a Config that does not refer to a server.
type documentConfig struct {
	Scheme     *runtime.Scheme
	Release    string
	OpenID     bool
	CBOR       bool
	PatchTypes []openapi.PatchType
}

func contentOf(snapshot *registry.Snapshot, config Config) content {
	return content{
		config:    documentConfig{config.Scheme, config.Release, config.OpenID, config.CBOR, config.PatchTypes},
		groups:    snapshot.Groups,
		resources: snapshot.Resources(),
		remotes:   snapshot.Remotes(),
	}
}

// key identifies the content. Resources are immutable, so equal keys mean equal documents.
func (c content) key() string {
	var key strings.Builder
	fmt.Fprintf(&key, "%s %t %t %p", c.config.Release, c.config.OpenID, c.config.CBOR, c.config.Scheme)
	for _, r := range c.resources {
		fmt.Fprintf(&key, " %p", r)
	}
	if len(c.remotes) > 0 { // differs between servers
		fmt.Fprintf(&key, " %p", c.remotes)
	}
	return key.String()
}

// remoteOpenAPI returns the available servers of OpenAPI documents, by path. This server
// always has its own documents of the built-in groups.
func (c content) remoteOpenAPI() map[string]*registry.Remote {
	remotes := map[string]*registry.Remote{}
	for _, remote := range c.remotes {
		builtIn := slices.ContainsFunc(c.groups, func(g registry.Group) bool { return g.Name == remote.Group && !g.Custom })
		if builtIn || remote.Stale {
			continue
		}
		for path := range remote.OpenAPI {
			remotes[path] = remote
		}
	}
	return remotes
}
