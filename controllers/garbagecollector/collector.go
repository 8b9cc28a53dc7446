package garbagecollector

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

const (
	// workers is the number of objects that are reconciled at the same time.
	workers = 8
	// soughtOwners is the number of owners whose namespace is remembered, see invalidNamespace.
	soughtOwners = 1000
)

// Collector is the garbage collector. It implements reconcile.Controller.
type Collector struct {
	config reconcile.Config
	// graph is replaced when changes are lost. It then lacks objects until config.Activity has
	// handled the complete state, see eachDependent.
	graph atomic.Pointer[graph]
	queue *reconcile.Queue
	// sought holds the namespaces in which absent owners were found, by UID.
	sought *lru.Cache
}

// New returns a collector. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &Collector{config: config, sought: lru.New(soughtOwners)}
	c.Reset()
	c.queue = reconcile.NewQueue(config, reconcile.QueueConfig{Name: controllerName, Workers: workers, Reconcile: c.reconcile})
	return c
}

const controllerName = "garbage-collector-controller"

// Run implements reconcile.Controller.
func (c *Collector) Run(ctx context.Context) error {
	ctx = reconcile.As(ctx, "generic-garbage-collector")
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.queue.Run(ctx) })
	group.Go(func() error { return c.resolveKinds(ctx) })
	return group.Wait()
}

// resolveKinds resolves unknown kinds after each change of the catalog.
func (c *Collector) resolveKinds(ctx context.Context) error {
	for {
		changed := c.config.Catalog.Changed()
		c.enqueue(c.graph.Load().resolve())
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// Reset implements reconcile.Controller.
func (c *Collector) Reset() { c.graph.Store(newGraph(c.config.Catalog)) }

// Handle implements reconcile.Controller.
func (c *Collector) Handle(change reconcile.Change) {
	switch {
	case isIgnored(change):
	case change.Deleted:
		c.enqueue(c.graph.Load().remove(change.Key))
	default:
		c.enqueue(c.graph.Load().put(newNode(change.Key, ownership(change.Data))))
	}
}

func (c *Collector) enqueue(keys []string) {
	for _, key := range keys {
		c.queue.Add(key)
	}
}

// isIgnored reports whether the collector ignores a change: Events have no dependents.
func isIgnored(change reconcile.Change) bool {
	if !change.Located {
		return false
	}
	resource := change.Location.Store.Resource().GroupResource()
	return resource == corev1.Resource("events") || resource == eventsv1.Resource("events")
}

var (
	ownersInJSON    = []byte(`"ownerReferences"`)
	deletingInJSON  = []byte(`"deletionTimestamp"`)
	startOfJSONText = []byte("{")
)

// ownership returns the metadata of an object. It is empty if the collector can ignore the object,
// or if the object is malformed. Most objects in JSON are not parsed.
func ownership(data []byte) reconcile.Metadata {
	if bytes.HasPrefix(data, startOfJSONText) && !bytes.Contains(data, ownersInJSON) && !bytes.Contains(data, deletingInJSON) {
		return reconcile.Metadata{}
	}
	metadata, err := reconcile.ParseMetadata(data)
	if err != nil {
		return reconcile.Metadata{}
	}
	return metadata
}

// item is the latest state of an object.
type item struct {
	registry.Location
	reconcile.Metadata
	key      string
	revision int64
	// deletedOwners are the UIDs of owners whose deletion was seen.
	deletedOwners []types.UID
}

// reconcile deletes an object without owners, or continues the deletion of an object that waits for
// the collector.
func (c *Collector) reconcile(ctx context.Context, key string) error {
	deletedOwners, ok := c.graph.Load().lookup(key)
	if !ok {
		return nil
	}
	snapshot := c.config.Catalog.Snapshot()
	location, ok := snapshot.Locate(key)
	if !ok {
		return c.suspend(key, snapshot)
	}
	obj, err := read(ctx, location)
	if err != nil {
		return ignoreNotFound(err)
	}
	obj.deletedOwners = deletedOwners
	switch {
	case obj.Deleting && obj.HasFinalizer(metav1.FinalizerOrphanDependents):
		return c.orphanDependents(ctx, obj)
	case obj.Deleting && obj.HasFinalizer(metav1.FinalizerDeleteDependents):
		return c.finishForeground(ctx, obj)
	case obj.Deleting, len(obj.OwnerReferences) == 0:
		return nil
	}
	owners, err := c.classify(ctx, snapshot, obj)
	switch {
	case errors.Is(err, errUnknownKind):
		return c.suspend(key, snapshot)
	case errors.Is(err, errNamespacedOwner): // the references never become valid
		return nil
	case err != nil:
		return err
	}
	return c.collect(ctx, obj, owners)
}

// suspend keeps an object until the catalog differs from a snapshot.
func (c *Collector) suspend(key string, snapshot *registry.Snapshot) error {
	c.graph.Load().suspend(key)
	if c.config.Catalog.Snapshot() != snapshot {
		c.queue.Add(key)
	}
	return nil
}

// eachDependent calls visit with the objects that refer to an object, until it returns false. No
// object is missing that referred to it at a revision that was read: the graph may be behind the
// latest state, and at the start it is incomplete.
func (c *Collector) eachDependent(ctx context.Context, obj *item, revision int64, visit func(dependent) bool) error {
	for {
		graph := c.graph.Load()
		if err := c.config.Activity.AwaitHandled(ctx, revision); err != nil {
			return err
		}
		if c.graph.Load() == graph {
			graph.dependentsOf(obj.key, obj.UID, visit)
			return nil
		}
	}
}

// read returns the latest state of an object.
func read(ctx context.Context, location registry.Location) (*item, error) {
	entry, err := location.Store.Get(ctx, location.Namespace, location.Name, "")
	if err != nil {
		return nil, err
	}
	metadata, err := reconcile.ParseMetadata(entry.Data())
	if err != nil {
		return nil, err
	}
	return &item{Location: location, Metadata: metadata, key: entry.Key, revision: entry.Revision}, nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
