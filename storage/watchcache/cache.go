package watchcache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/miniapi/miniapi/storage"
)

// Cache keeps the state of all resources of one storage. It is a
// prometheus.Collector, and safe for concurrent use.
type Cache struct {
	cfg       Config
	telemetry *telemetry
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
	// removed: the cache does not feed the resource any more.
	removed atomic.Bool
}

// New returns a cache without a state. It starts nothing.
func New(cfg Config) (*Cache, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("watch cache: %w", err)
	}
	return &Cache{
		cfg:       cfg.withDefaults(),
		telemetry: newTelemetry(),
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

// Loaded tells whether reads are answered from the cache at the moment.
func (c *Cache) Loaded() bool { return c.loaded.Load() }

func newResource(root string, decoder *storage.Decoder) *resource {
	return &resource{root: root, decoder: decoder, tree: newTree(), changed: make(chan struct{})}
}

// Store returns the store of the keys below root, which ends in a slash: next,
// whose objects codec knows, through the cache. Several stores may have the same
// root if their codecs make the same objects.
func (c *Cache) Store(root string, codec storage.Codec, next storage.Interface) storage.Interface {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known := c.resources[root]
	if !known {
		r = newResource(root, storage.NewDecoder(codec, next.Versioner()).With(c.cfg.Memo))
		r.window.since = c.revision
		r.take(c.strays)
		c.resources[root] = r
	}
	return &store{Interface: next, cache: c, resource: r}
}

// Remove forgets how to read the keys below root, until there is a store for
// them again. Watches of the stores that there were go on as watches of the
// storage behind, and reads go there.
func (c *Cache) Remove(root string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known := c.resources[root]
	if !known {
		return
	}
	delete(c.resources, root)
	c.strays.take(r)
	r.removed.Store(true)
	r.reset(c.revision)
}

// take moves the entries below r's root from another resource.
func (r *resource) take(from *resource) {
	from.tree.snapshot().ascend(r.root, r.root, func(entry *storage.Entry) bool {
		r.tree.set(r.decoder.Entry(entry.Key, entry.Revision, entry.Data()))
		from.tree.remove(entry.Key)
		return true
	})
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
