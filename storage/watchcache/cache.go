package watchcache

import (
	"context"
	"fmt"
	"slices"
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
	// reload: the log has lost changes, so that it cannot go on from revision. Only Run uses it.
	reload bool

	mu sync.RWMutex // guards what follows, and what the resources hold
	// revision up to which everything has been applied.
	revision int64
	// resources by root: one for each codec with which its keys are read.
	resources map[string][]*resource
	// strays is the one that has the keys of no root, whose bytes wait for one.
	strays []*resource
}

// resource is what the keys below a root are to those who read them with one
// codec.
type resource struct {
	root    string
	codec   storage.Codec
	decoder *storage.Decoder
	tree    *tree
	window  window
	// changed is closed when there is something new in the window, or when the
	// window is a new one.
	changed chan struct{}
	indexes indexes
	// removed: the cache does not feed the resource any more.
	//
	// Invariant: the state and the window of a removed resource are never read.
	removed bool
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
		resources: map[string][]*resource{},
		strays:    []*resource{newResource("", nil, &storage.Decoder{})},
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

func newResource(root string, codec storage.Codec, decoder *storage.Decoder) *resource {
	return &resource{root: root, codec: codec, decoder: decoder, tree: newTree(), changed: make(chan struct{})}
}

// Store returns the store of the keys below root, which ends in a slash: next,
// whose objects codec knows, through the cache. The same root may be read with
// several codecs, which must be comparable; stores with the same one share what
// the cache has of it.
func (c *Cache) Store(root string, codec storage.Codec, next storage.Interface) storage.Interface {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.index(root, codec)
	if i < 0 {
		r := newResource(root, codec, storage.NewDecoder(codec, next.Versioner()).With(c.cfg.Memo))
		r.window.since = c.revision
		c.fill(r)
		i = len(c.resources[root])
		c.resources[root] = append(c.resources[root], r)
	}
	return &cachedStore{Interface: next, cache: c, resource: c.resources[root][i]}
}

// Remove forgets how codec reads the keys below root, until there is a store for
// that again. Watches of the stores that there were go on as watches of the
// storage behind, and reads go there.
func (c *Cache) Remove(root string, codec storage.Codec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.index(root, codec)
	if i < 0 {
		return
	}
	r := c.resources[root][i]
	if len(c.resources[root]) == 1 {
		delete(c.resources, root)
		c.strays[0].copy(r)
	} else {
		c.resources[root] = slices.Delete(slices.Clone(c.resources[root]), i, i+1)
	}
	r.removed = true
	r.tree, r.window = newTree(), window{} // a watch may hold the resource for long
	r.announce()
}

// index of the resource with a codec, -1 if there is none.
func (c *Cache) index(root string, codec storage.Codec) int {
	return slices.IndexFunc(c.resources[root], func(r *resource) bool { return r.codec == codec })
}

// fill gives a new resource what is known of its keys already.
func (c *Cache) fill(r *resource) {
	if others := c.resources[r.root]; len(others) > 0 {
		r.copy(others[0])
		return
	}
	r.copy(c.strays[0])
	r.tree.entries.Ascend(func(known item) bool {
		c.strays[0].tree.remove(known.key)
		return true
	})
}

// copy takes over what another resource has below r's root.
func (r *resource) copy(from *resource) {
	from.tree.snapshot().ascend(r.root, r.root, func(entry *storage.Entry) bool {
		r.tree.set(r.decoder.Entry(entry.Key, entry.Revision, entry.Data()))
		return true
	})
}

// resourcesOf finds out where a key belongs.
func (c *Cache) resourcesOf(key string) []*resource {
	for i := range len(key) {
		if key[i] != '/' {
			continue
		}
		if found := c.resources[key[:i+1]]; found != nil {
			return found
		}
	}
	return c.strays
}
