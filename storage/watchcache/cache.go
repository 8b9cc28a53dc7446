package watchcache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/miniapi/miniapi/storage"
)

// Cache keeps the state of all resources of one storage. Safe for concurrent
// use.
type Cache struct {
	cfg Config
	// ask makes the log tell how far it has come.
	ask chan struct{}
	// loaded says that there is a state which the log goes on from.
	loaded atomic.Bool
	// first is closed when it is so for the first time.
	first     chan struct{}
	firstLoad sync.Once
	// floor is the latest revision of what was answered by the storage behind.
	floor atomic.Int64
	// reached is revision, for those who only want to know that.
	reached atomic.Int64
	waiters waiters

	mu sync.RWMutex // guards what follows, and what the resources hold
	// revision up to which everything has been applied.
	revision  int64
	resources map[string]*resource // by root
	// strays are the keys of no resource, whose bytes wait for one.
	strays *resource
}

// resource is the part of a cache that one store serves.
type resource struct {
	root    string
	decoder *storage.Decoder
	tree    *tree
	window  window
	// changed is closed when there is something new in the window, or when the
	// window is a new one.
	changed chan struct{}
	indexes indexes
}

// New returns a cache without a state. It starts nothing.
func New(cfg Config) (*Cache, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("watch cache: %w", err)
	}
	return &Cache{
		cfg:       cfg.withDefaults(),
		ask:       make(chan struct{}, 1),
		first:     make(chan struct{}),
		resources: map[string]*resource{},
		strays:    newResource("", &storage.Decoder{}),
	}, nil
}

// AwaitLoaded waits until the cache has a state for the first time. It returns
// the error of ctx if that ends before.
func (c *Cache) AwaitLoaded(ctx context.Context) error {
	select {
	case <-c.first:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newResource(root string, decoder *storage.Decoder) *resource {
	return &resource{root: root, decoder: decoder, tree: newTree(), changed: make(chan struct{})}
}

// Store returns the store of the keys below root, which ends in a slash: next,
// whose objects codec knows, through the cache. A root that had a store gets a
// new one; the watches of the old one go on as watches of the storage behind.
func (c *Cache) Store(root string, codec storage.Codec, next storage.Interface) storage.Interface {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := newResource(root, storage.NewDecoder(codec, next.Versioner()).With(c.cfg.Memo))
	r.window.since = c.revision
	before, known := c.resources[root]
	if !known {
		before = c.strays
	}
	before.tree.snapshot().ascend(root, root, func(entry *storage.Entry) bool {
		r.tree.set(r.decoder.Entry(entry.Key, entry.Revision, entry.Data()))
		c.strays.tree.remove(entry.Key)
		return true
	})
	if known {
		before.reset(c.revision)
	}
	c.resources[root] = r
	return &store{Interface: next, cache: c, resource: r}
}

// resourceOf finds out where a key belongs.
func (c *Cache) resourceOf(key string) *resource {
	for i := range len(key) {
		if key[i] != '/' {
			continue
		}
		if r := c.resources[key[:i+1]]; r != nil {
			return r
		}
	}
	return c.strays
}
