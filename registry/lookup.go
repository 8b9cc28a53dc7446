package registry

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lookup finds the stores of a server. *Catalog and *Snapshot implement it.
type Lookup interface {
	// Store returns the store of a resource in any version, and false if the server does not
	// store the resource.
	Store(resource schema.GroupResource) (*Store, bool)
}

var (
	_ Lookup = (*Catalog)(nil)
	_ Lookup = (*Snapshot)(nil)
)

// Store implements Lookup.
func (c *Catalog) Store(resource schema.GroupResource) (*Store, bool) {
	return c.Snapshot().Store(resource)
}

// Require returns the store of a resource, and an internal error if the server does not store the
// resource.
func Require(lookup Lookup, resource schema.GroupResource) (*Store, error) {
	if found, ok := lookup.Store(resource); ok {
		return found, nil
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("this server has no %s", resource))
}

// Store implements Lookup.
func (s *Snapshot) Store(resource schema.GroupResource) (*Store, bool) {
	store, ok := s.stores[resource]
	return store, ok
}

// Served returns the implementation that serves a version of a resource.
func (s *Snapshot) Served(resource schema.GroupVersionResource) (Interface, bool) {
	served, ok := s.served[resource]
	return served, ok
}

// Resources returns all resources in the order of discovery.
func (s *Snapshot) Resources() []*Resource {
	resources := make([]*Resource, len(s.order))
	for i, served := range s.order {
		resources[i] = served.Resource()
	}
	return resources
}

// Stores returns one store for each resource that is stored, in the order of discovery.
func (s *Snapshot) Stores() []*Store {
	var stores []*Store
	for _, store := range storesOf(s.order) {
		if s.stores[store.resource.GroupResource()] == store {
			stores = append(stores, store)
		}
	}
	return stores
}

// OfKind returns the implementation that serves the objects of a kind, and the version of
// the kind.
func (s *Snapshot) OfKind(kind schema.GroupVersionKind) (Interface, Version, bool) {
	for _, served := range s.order {
		if served.Resource().GroupKind() != kind.GroupKind() {
			continue
		}
		if version, ok := served.Resource().Version(kind.Version); ok {
			return served, version, true
		}
	}
	return nil, Version{}, false
}

// KindsOf returns the kinds that are served under the name of a resource in a version. The group
// "" matches every group.
func (s *Snapshot) KindsOf(resource schema.GroupVersionResource) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, r := range s.Resources() {
		if r.Name != resource.Resource || resource.Group != "" && r.Group != resource.Group {
			continue
		}
		if _, ok := r.Version(resource.Version); ok {
			kinds = append(kinds, schema.GroupVersionKind{Group: r.Group, Version: resource.Version, Kind: r.Kind})
		}
	}
	return kinds
}

// Equivalents returns the resources that serve the same objects as r, r included.
func (s *Snapshot) Equivalents(r *Resource) []*Resource {
	var same []*Resource
	for _, other := range s.Resources() {
		if other == r || r.StoragePath != "" && other.StoragePath == r.StoragePath {
			same = append(same, other)
		}
	}
	return same
}

// storesOf returns the stores among the implementations.
func storesOf(list []Interface) []*Store {
	var stores []*Store
	for _, served := range list {
		if store, ok := served.(*Store); ok {
			stores = append(stores, store)
		}
	}
	return stores
}
