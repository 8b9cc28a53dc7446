package registry

import (
	"context"
	"errors"
	"strings"

	"github.com/miniapi/miniapi/storage"
)

// errNoCache is returned by Follow.
var errNoCache = errors.New("the catalog has no cache to follow")

// Follow calls report with the current state of all stored objects, and then with all later
// changes, in the order of their revisions, until ctx ends, and returns nil then. See
// watchcache.Cache.Follow. The catalog must have a cache.
func (c *Catalog) Follow(ctx context.Context, report func(changes []storage.Change, upTo int64, complete bool)) error {
	if c.config.Cache == nil {
		return errNoCache
	}
	return c.config.Cache.Follow(ctx, report)
}

// Changed returns a channel that is closed when the content of the catalog changes.
func (c *Catalog) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Location is an object's place in the catalog.
type Location struct {
	Store *Store
	// Namespace is "" for a resource of cluster scope.
	Namespace, Name string
}

// Locate returns the location of the object under a key of the storage. It returns false if the
// server does not serve the resource.
func (s *Snapshot) Locate(key string) (Location, bool) {
	for i := 1; i < len(key); i++ {
		if key[i] != '/' {
			continue
		}
		store, ok := s.paths()[key[1:i]]
		if !ok {
			continue
		}
		location := Location{Store: store, Name: key[i+1:]}
		if store.resource.Namespaced {
			location.Namespace, location.Name, ok = strings.Cut(location.Name, "/")
		}
		return location, ok
	}
	return Location{}, false
}

// storesByPath returns the store of each storage path.
func (s *Snapshot) storesByPath() map[string]*Store {
	paths := make(map[string]*Store, len(s.stores))
	for _, store := range s.Stores() {
		if path := store.resource.StoragePath; paths[path] == nil {
			paths[path] = store
		}
	}
	return paths
}

// Key returns the key of an object in the storage. Invalid names are a 400.
func (s *Store) Key(namespace, name string) (string, error) { return s.key(namespace, name) }
