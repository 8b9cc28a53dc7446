package namespace

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

const (
	// workers is the number of namespaces that are deleted at the same time.
	workers = 10
	// maxDelay limits the time between a change in a namespace and the next pass.
	maxDelay = time.Second
	// leftoverDelay is the time after which another server has ended the creations that it admitted
	// before the deletion of a namespace.
	leftoverDelay = 5 * time.Second
)

// Controller deletes namespaces. It implements reconcile.Controller.
type Controller struct {
	config reconcile.Config
	queue  *reconcile.Queue

	mu sync.Mutex // guards the field below
	// terminating holds the delay between a change and the next pass, by namespace. It grows with
	// the duration of a pass.
	terminating map[string]time.Duration
}

// New returns a controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &Controller{config: config, terminating: map[string]time.Duration{}}
	c.queue = reconcile.NewQueue(config, reconcile.QueueConfig{Name: "namespace-controller", Workers: workers, Reconcile: c.reconcile})
	return c
}

// Run implements reconcile.Controller.
func (c *Controller) Run(ctx context.Context) error {
	return c.queue.Run(reconcile.As(ctx, "namespace-controller"))
}

// Handle implements reconcile.Controller.
func (c *Controller) Handle(change reconcile.Change) {
	switch {
	case !change.Located:
	case change.Location.Store.Resource().GroupResource() == corev1.Resource("namespaces"):
		c.handleNamespace(change)
	case change.Location.Namespace != "":
		c.handleContent(change.Location.Namespace)
	}
}

// Reset implements reconcile.Controller.
func (c *Controller) Reset() {
	c.mu.Lock()
	known := slices.Collect(maps.Keys(c.terminating))
	c.mu.Unlock()
	for _, name := range known {
		c.forget(name)
	}
}

func (c *Controller) handleNamespace(change reconcile.Change) {
	name := change.Location.Name
	if change.Deleted {
		c.forget(name)
		return
	}
	metadata, err := reconcile.ParseMetadata(change.Data)
	if err != nil || !metadata.Deleting {
		return
	}
	c.mu.Lock()
	if _, known := c.terminating[name]; !known {
		c.terminating[name] = 0 // no delay until setDelay has measured a pass
	}
	c.mu.Unlock()
	c.queue.Add(name)
}

func (c *Controller) forget(name string) {
	c.mu.Lock()
	_, known := c.terminating[name]
	delete(c.terminating, name)
	c.mu.Unlock()
	if known && c.config.Shared {
		c.queue.AddAfter(name, leftoverDelay)
	}
}

// handleContent starts another pass after a change in a namespace that is being deleted.
func (c *Controller) handleContent(namespace string) {
	c.mu.Lock()
	delay, ok := c.terminating[namespace]
	c.mu.Unlock()
	if ok {
		c.queue.AddBatched(namespace, delay)
	}
}

// reconcile deletes the content of a namespace that is being deleted, and releases the namespace.
func (c *Controller) reconcile(ctx context.Context, name string) error {
	if err := c.config.Sync(ctx); err != nil {
		return err
	}
	namespaces, err := c.namespaces()
	if err != nil {
		return err
	}
	ns, err := registry.Read[*corev1.Namespace](ctx, namespaces, "", name, "")
	switch {
	case apierrors.IsNotFound(err):
		return c.deleteLeftovers(ctx, name)
	case err != nil:
		return err
	case ns.DeletionTimestamp == nil || !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes):
		return nil
	}
	if err := c.config.Catalog.AwaitCreations(ctx, name); err != nil {
		return err
	}
	return c.finish(ctx, ns, c.deleteContent(ctx, ns))
}

// finish writes the conditions for the result of a pass, and releases the namespace if it is empty.
func (c *Controller) finish(ctx context.Context, ns *corev1.Namespace, result *content) error {
	if err := c.updateStatus(ctx, ns, result.conditions()); ignoreGone(err) != nil {
		return err
	}
	if err := result.err(); err != nil {
		return err
	}
	if result.recheck > 0 {
		c.queue.AddAfter(ns.Name, result.recheck)
	}
	if !result.empty() {
		return nil
	}
	return ignoreGone(c.release(ctx, ns))
}

// ignoreGone returns nil for the error of a write to a namespace that does not exist any more.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // the UID differs
		return nil
	}
	return err
}

// release removes the finalizer kubernetes.
func (c *Controller) release(ctx context.Context, ns *corev1.Namespace) error {
	return c.update(ctx, ns.Name, ns.UID, "finalize", func(ns *corev1.Namespace) {
		ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool {
			return f == corev1.FinalizerKubernetes
		})
	})
}

// update applies an edit to the latest state of a namespace. An edit without effect writes nothing.
func (c *Controller) update(ctx context.Context, name string, uid types.UID, subresource string, edit func(*corev1.Namespace)) error {
	namespaces, err := c.namespaces()
	if err != nil {
		return err
	}
	_, err = namespaces.Update(ctx, registry.UpdateRequest{
		Name: name, Subresource: subresource, UID: uid,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.(*corev1.Namespace).DeepCopy()
			edit(next)
			return next, nil
		},
		Options: registry.WriteOptions{FieldManager: reconcile.FieldManager, Sent: &metav1.UpdateOptions{}},
	})
	return err
}

func (c *Controller) namespaces() (*registry.Store, error) {
	return registry.Require(c.config.Catalog, corev1.Resource("namespaces"))
}
