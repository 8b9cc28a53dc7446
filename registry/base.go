package registry

import (
	"sync"
)

// base is the part that all implementations of Interface share.
type base struct {
	resource *Resource
	catalog  *Catalog
	// managers are the field managers that are in use, by managerKey.
	managers sync.Map
}

// Resource returns the resource that is served.
func (b *base) Resource() *Resource { return b.resource }

// Catalog returns the catalog of the server.
func (b *base) Catalog() *Catalog { return b.catalog }
