package flowcontrol

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
	"github.com/miniapi/miniapi/storage"
)

// Config configures a Classifier.
type Config struct {
	// Store finds the stores of FlowSchemas and PriorityLevelConfigurations.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Empty is set if no FlowSchemas are stored before the first write of this server. It saves the
	// first read.
	Empty bool
	// Shared is set if other servers write to the same storage.
	Shared bool
	// Logger takes warnings of the watches. Nil discards them.
	Logger *slog.Logger
}

// Classification is the FlowSchema of a request and its PriorityLevelConfiguration. Its methods
// observe the request in the metrics; they do nothing on a nil Classification, which stands for a
// request that is not classified.
type Classification struct {
	FlowSchema, PriorityLevel types.UID
	series                    *series
}

// Classifier finds the FlowSchema of requests. It is safe for concurrent use.
type Classifier struct {
	store           func(schema.GroupResource) (*registry.Store, bool)
	shared          bool
	schemas, levels *informer.Informer
	watching        chan struct{}
	watch           func() // closes watching
	metrics         *metrics

	mu sync.Mutex // guards the fields below
	// next is the number of the first write of this server that may not have been read yet, 0
	// before the first read.
	next uint64
	// rules were built from the informers at these generations.
	rules                        []flowSchema
	schemaVersion, levelsVersion uint64
}

// flowSchema is a FlowSchema with the classification of its requests.
type flowSchema struct {
	*flowcontrolv1.FlowSchema
	class *Classification
}

// New returns a Classifier. It starts nothing.
func New(config Config) *Classifier {
	newInformer := func(resource string) *informer.Informer {
		return informer.New(informer.Config{
			Resource: flowcontrolv1.Resource(resource), Lookup: config.Store, Logger: config.Logger,
		})
	}
	c := &Classifier{
		store: config.Store, shared: config.Shared, watching: make(chan struct{}),
		schemas: newInformer("flowschemas"), levels: newInformer("prioritylevelconfigurations"),
		metrics: newMetrics(),
	}
	if config.Empty {
		c.next = 1
	}
	c.watch = sync.OnceFunc(func() { close(c.watching) })
	return c
}

// Run watches the FlowSchemas, as soon as there are any, until ctx ends, and returns nil then.
func (c *Classifier) Run(ctx context.Context) error {
	select {
	case <-c.watching:
		return informer.RunAll(ctx, c.levels, c.schemas)
	case <-ctx.Done():
		return nil
	}
}

// Classify returns the classification of a request of an authenticated user, nil if no FlowSchema
// with an existing priority level matches it.
func (c *Classifier) Classify(r *http.Request) *Classification {
	rules := c.current(r.Context())
	if len(rules) == 0 {
		return nil
	}
	access := request.AuthorizationAttributes(r)
	for _, rule := range rules {
		if matches(rule.Spec.Rules, access) {
			return rule.class
		}
	}
	return nil
}

// syncTimeout limits the time that a request waits for its classification.
const syncTimeout = time.Second

// current returns the FlowSchemas in the order of precedence. If they cannot be read, it returns
// the last known ones.
func (c *Classifier) current(ctx context.Context) []flowSchema {
	next := c.writes() + 1
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != next {
		c.mu.Unlock()
		err := c.sync(ctx)
		c.mu.Lock()
		if err == nil {
			c.next = max(c.next, next)
		}
	}
	if c.schemas.Generation() != c.schemaVersion || c.levels.Generation() != c.levelsVersion {
		c.build()
	}
	if len(c.rules) > 0 || c.shared {
		c.watch()
	}
	return c.rules
}

// writes returns the number of writes of this server.
func (c *Classifier) writes() uint64 {
	sum := uint64(0)
	for _, resource := range []string{"flowschemas", "prioritylevelconfigurations"} {
		if store, ok := c.store(flowcontrolv1.Resource(resource)); ok {
			sum += store.Writes()
		}
	}
	return sum
}

func (c *Classifier) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if err := c.levels.Sync(ctx); err != nil {
		return err
	}
	return c.schemas.Sync(ctx)
}

// build is called with mu held. A FlowSchema without priority level has no effect.
func (c *Classifier) build() {
	var entries []*storage.Entry
	levels := map[string]types.UID{}
	entries, c.levelsVersion = c.levels.List()
	for _, level := range objects[*flowcontrolv1.PriorityLevelConfiguration](entries) {
		levels[level.Name] = level.UID
	}
	entries, c.schemaVersion = c.schemas.List()
	c.rules = nil
	bound := map[labels]*series{}
	for _, s := range objects[*flowcontrolv1.FlowSchema](entries) {
		names := labels{level: s.Spec.PriorityLevelConfiguration.Name, schema: s.Name}
		if level, ok := levels[names.level]; ok {
			bound[names] = c.metrics.series(names)
			c.rules = append(c.rules, flowSchema{s, &Classification{s.UID, level, bound[names]}})
		}
	}
	c.metrics.retain(bound)
	slices.SortFunc(c.rules, func(a, b flowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
}

// objects returns the objects of entries, without the objects that cannot be decoded.
func objects[T any](entries []*storage.Entry) []T {
	var list []T
	for _, entry := range entries {
		if obj, err := entry.Object(); err == nil {
			if typed, ok := obj.(T); ok {
				list = append(list, typed)
			}
		}
	}
	return list
}
