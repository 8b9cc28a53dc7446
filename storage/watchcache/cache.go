package watchcache

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/miniapi/miniapi/internal/broadcast"
	"github.com/miniapi/miniapi/storage"
)

// Cache holds the state of all resources of one storage. It is a prometheus.Collector, and safe
// for concurrent use.
type Cache struct {
	cfg       Config
	telemetry *telemetry
	// progressRequests makes the log report its progress.
	progressRequests chan struct{}
	// loaded reports that the cache has a state and that the log continues it.
	loaded atomic.Bool
	// firstLoaded is closed when loaded becomes true for the first time.
	firstLoaded chan struct{}
	loadOnce    sync.Once
	// minimum is the minimum revision of answers: the highest revision answered by the underlying
	// storage.
	minimum atomic.Int64
	// applied is a copy of revision for readers without the lock.
	applied atomic.Int64
	// changed notifies that applied has increased.
	changed broadcast.Broadcast
	waiters waiters
	// reload means that the log has lost changes and cannot continue from revision. Only Run uses
	// it.
	reload bool

	mu sync.RWMutex // guards the fields below and the content of the resources
	// revision is the revision up to which all changes are applied.
	revision int64
	// resources holds the resources by root, one for each codec that reads its keys.
	resources map[string][]*resource
	// unclaimed holds one resource with the entries below no root. They are not decoded until a
	// store claims them.
	unclaimed []*resource
	followers []*follower
}

// resource is the keys below a root, read with one codec.
type resource struct {
	root    string
	codec   storage.Codec
	decoder *storage.Decoder
	tree    *tree
	window  window
	// subscriptions are the readers that wait for events of the window.
	subscriptions subscriptions
	indexes       indexes
	// watches is the number of watches that read the window.
	watches atomic.Int64
	// written holds the entries of writes of this server that the log has not reported yet.
	written map[writtenKey]*storage.Entry
	// removed means that the cache does not feed the resource any more.
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
		cfg:              cfg.withDefaults(),
		telemetry:        newTelemetry(),
		progressRequests: make(chan struct{}, 1),
		firstLoaded:      make(chan struct{}),
		resources:        map[string][]*resource{},
		unclaimed:        []*resource{newResource("", nil, &storage.Decoder{})},
	}, nil
}

// AwaitLoaded waits until the cache has a state for the first time. If ctx ends before, it returns
// its error.
func (c *Cache) AwaitLoaded(ctx context.Context) error {
	select {
	case <-c.firstLoaded:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Changed returns a channel that is closed when the cache applies another revision.
func (c *Cache) Changed() <-chan struct{} { return c.changed.Changed() }

// AwaitCurrent waits until the cache has applied the present revision of the storage, and returns
// that revision. The error is the error of the storage or of ctx.
func (c *Cache) AwaitCurrent(ctx context.Context) (revision int64, err error) {
	revision, err = c.cfg.Log.CurrentRevision(ctx)
	for err == nil && !c.await(ctx, revision) {
		changed := c.Changed()
		if c.loaded.Load() && c.applied.Load() >= revision {
			break
		}
		select {
		case <-changed: // the log is lost or slow
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return revision, err
}

// Loaded reports whether reads are currently answered from the cache.
func (c *Cache) Loaded() bool { return c.loaded.Load() }

func newResource(root string, codec storage.Codec, decoder *storage.Decoder) *resource {
	return &resource{root: root, codec: codec, decoder: decoder, tree: newTree()}
}

// Store returns a store that reads the keys below root through the cache and passes the rest to
// next. root ends in a slash. codec decodes the objects. A root may be read with several codecs,
// which must be comparable; stores with the same codec share a resource.
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

// Remove removes the resource of root and codec from the cache, until Store is called for it
// again. Existing stores of the resource then read from the underlying storage, and their watches
// continue there.
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
		c.unclaimed[0].copy(r)
	} else {
		c.resources[root] = slices.Delete(slices.Clone(c.resources[root]), i, i+1)
	}
	r.removed = true
	r.tree, r.window, r.written = newTree(), window{}, nil // a watch may refer to the resource for long
	r.subscriptions.wakeAll(c.revision)
}

// index returns the index of the resource with a codec, or -1.
func (c *Cache) index(root string, codec storage.Codec) int {
	return slices.IndexFunc(c.resources[root], func(r *resource) bool { return r.codec == codec })
}

// fill copies the known entries of its keys to a new resource.
func (c *Cache) fill(r *resource) {
	if others := c.resources[r.root]; len(others) > 0 {
		r.copy(others[0])
		return
	}
	r.copy(c.unclaimed[0])
	r.tree.entries.Ascend(func(known item) bool {
		c.unclaimed[0].tree.remove(known.key)
		return true
	})
}

// copy copies another resource's entries below r's root.
func (r *resource) copy(from *resource) {
	from.tree.snapshot().ascend(r.root, r.root, func(entry *storage.Entry) bool {
		change := storage.Change{Key: entry.Key, Revision: entry.Revision, Data: entry.Data(), Err: entry.Unreadable()}
		r.tree.set(r.entry(&change))
		return true
	})
}

// resourcesOf returns the resources that a key belongs to.
func (c *Cache) resourcesOf(key string) []*resource {
	for i := range len(key) {
		if key[i] != '/' {
			continue
		}
		if found := c.resources[key[:i+1]]; found != nil {
			return found
		}
	}
	return c.unclaimed
}
