package openapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/weakmap"
	"github.com/miniapi/miniapi/registry"
)

// part is the content of one document of version 3: a non-resource path or a group version. The
// document of version 2 is joined from all parts.
type part struct {
	partConfig
	v2 func() (*fragment, error)
	v3 func() (*Document, error)
}

type partConfig struct {
	name    string // its path
	library *library
	release string
	// cbor reports whether the server supports CBOR.
	cbor bool
	// gv, resources and patchTypes describe a group version.
	gv         schema.GroupVersion
	resources  []*registry.Resource
	patchTypes []PatchType
	// nonResource is the route of a non-resource path. It is determined by name.
	nonResource *route
}

// parts are shared by successive states of a catalog and by the servers of a process. A part
// references its resources, so that no other resource can have the same address.
var parts weakmap.Map[partKey, part]

type partKey struct {
	name, release string
	library       *library
	cbor          bool
	resources     string // their addresses
	patchTypes    string
}

func newPart(config partConfig) *part {
	key := partKey{
		name: config.name, release: config.release, library: config.library, cbor: config.cbor,
		patchTypes: fmt.Sprint(config.patchTypes),
	}
	for _, r := range config.resources {
		key.resources += fmt.Sprintf("%p ", r)
	}
	return parts.Of(key, func() *part {
		p := &part{partConfig: config}
		p.v2 = sync.OnceValues(p.buildV2)
		p.v3 = sync.OnceValues(p.buildV3)
		return p
	})
}

// partsOf returns the parts of a catalog, sorted by name.
func partsOf(config Config, library *library) []*part {
	var list []*part
	for _, r := range nonResources(config) {
		list = append(list, newPart(partConfig{
			name: r.name, library: library, release: config.Release, cbor: config.CBOR,
			nonResource: &route{"/" + r.name + "/", []operation{r.operation}},
		}))
	}
	resources := byGroupVersion(config.Resources)
	for _, g := range config.Groups {
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v}
			list = append(list, newPart(partConfig{
				name: strings.TrimPrefix(rootOf(gv), "/"), library: library, release: config.Release, cbor: config.CBOR,
				gv: gv, resources: resources[gv], patchTypes: config.PatchTypes,
			}))
		}
	}
	slices.SortFunc(list, func(a, b *part) int { return cmp.Compare(a.name, b.name) })
	return list
}

func byGroupVersion(resources []*registry.Resource) map[schema.GroupVersion][]*registry.Resource {
	served := map[schema.GroupVersion][]*registry.Resource{}
	for _, r := range resources {
		for _, v := range r.Versions {
			gv := schema.GroupVersion{Group: r.Group, Version: v.Name}
			served[gv] = append(served[gv], r)
		}
	}
	return served
}

// custom reports whether all resources of the part are custom.
func (p *part) custom() bool {
	return len(p.resources) > 0 && !slices.ContainsFunc(p.resources, func(r *registry.Resource) bool { return !r.Custom })
}

// routes returns the routes of the part, sorted by path.
func (p *part) routes() []route {
	routes := p.baseRoutes()
	if p.cbor {
		addCBOR(routes)
	}
	return routes
}

// baseRoutes returns the routes without the media types of CBOR.
func (p *part) baseRoutes() []route {
	if p.nonResource != nil {
		return []route{*p.nonResource}
	}
	var routes []route
	if !p.custom() {
		routes = append(routes, resourceListRoute(p.gv))
	}
	for _, r := range p.resources {
		routes = append(routes, p.describe(r).build()...)
	}
	slices.SortFunc(routes, func(a, b route) int { return cmp.Compare(a.path, b.path) })
	return routes
}

func (p *part) describe(r *registry.Resource) resourceRoutes {
	b := resourceRoutes{resource: r, gv: p.gv, newOptions: p.library.newObject}
	b.version, _ = r.Version(p.gv.Version)
	for _, t := range p.patchTypes {
		if !r.Custom || !t.BuiltInOnly {
			b.patchTypes = append(b.patchTypes, t.ContentType)
		}
	}
	return b
}

// models returns the names of the built-in definitions that routes of the part reference.
func (p *part) models(routes []route) []string {
	names := models(routes)
	if slices.ContainsFunc(p.resources, func(r *registry.Resource) bool { return r.Custom }) {
		names = append(names, objectMetaModel, listMetaModel)
	}
	return names
}
