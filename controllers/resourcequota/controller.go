// Package resourcequota keeps the status of ResourceQuotas, as kube-controller-manager's
// resourcequota-controller does. tracker.go determines the quotas that a change affects.
//
// The admission plugin charges a write before the object is stored. A recalculation in between
// would lose the charge, so the controller reads a quota, waits for the creations in progress, and
// then counts. A later charge changes the quota, and the write of the status is a Conflict.
package resourcequota

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/internal/quota"
	"github.com/miniapi/miniapi/registry"
)

const (
	controllerName = "resourcequota-controller"
	// workers is the number of quotas that are recalculated at the same time.
	workers = 5
)

type controller struct {
	catalog *registry.Catalog
	quotas  reconcile.Objects[*corev1.ResourceQuota]
	queue   *reconcile.Queue
	tracker tracker
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &controller{
		catalog: config.Catalog,
		quotas:  reconcile.Objects[*corev1.ResourceQuota]{Catalog: config.Catalog, Resource: corev1.Resource("resourcequotas")},
	}
	c.queue = reconcile.NewQueue(config, reconcile.QueueConfig{Name: controllerName, Workers: workers, Reconcile: c.reconcile})
	c.Reset()
	return c
}

// Run implements reconcile.Controller.
func (c *controller) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(reconcile.As(ctx, controllerName))
	group.Go(func() error { return c.queue.Run(ctx) })
	group.Go(func() error { return c.followCatalog(ctx) })
	return group.Wait()
}

// followCatalog recalculates all quotas after each change of the catalog: a quota can count
// resources that are defined later.
func (c *controller) followCatalog(ctx context.Context) error {
	for {
		changed := c.catalog.Changed()
		c.tracker.each(c.queue.Add)
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// Reset implements reconcile.Controller.
func (c *controller) Reset() { c.tracker.reset() }

// Handle implements reconcile.Controller.
func (c *controller) Handle(change reconcile.Change) {
	if !change.Located {
		return
	}
	namespace, resource := change.Location.Namespace, change.Location.Store.Resource().GroupResource()
	if resource == c.quotas.Resource {
		c.tracker.set(namespace, change.Location.Name, !change.Deleted)
		c.queue.Add(namespace + "/" + change.Location.Name)
	}
	c.tracker.eachCounting(namespace, resource, c.queue.Add)
}

func (c *controller) reconcile(ctx context.Context, key string) error {
	namespace, name, _ := strings.Cut(key, "/")
	current, err := c.quotas.Get(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c.tracker.limit(namespace, name, current.Spec.Hard)
	if err := c.catalog.AwaitCreations(ctx, namespace); err != nil {
		return err
	}
	next := current.DeepCopy()
	next.Status = corev1.ResourceQuotaStatus{Hard: next.Spec.Hard, Used: corev1.ResourceList{}}
	until, failure := c.recalculate(ctx, next, current.Status.Used)
	if _, err := c.quotas.PutStatus(ctx, current, next); err != nil {
		return err
	}
	if left := until.Sub(registry.Now(ctx)); failure == nil && !until.IsZero() {
		c.queue.AddAfter(key, left)
	}
	return failure
}

// recalculate sets status.used to the usage of the stored objects. It keeps the former usage of the
// resources that cannot be read, and returns their errors, and of limits that apply to no resource.
// until is the time at which the usage changes without a write, if it is not zero.
func (c *controller) recalculate(ctx context.Context, next *corev1.ResourceQuota, former corev1.ResourceList) (until time.Time, err error) {
	for name := range next.Status.Hard {
		if quantity, ok := former[name]; ok {
			next.Status.Used[name] = quantity
		}
	}
	var errs []error
	for _, store := range c.catalog.Snapshot().Stores() {
		total, err := count(ctx, store, next)
		if err != nil {
			errs = append(errs, fmt.Errorf("count %s: %w", store.Resource().GroupResource(), err))
			continue
		}
		for name, quantity := range total.Used {
			next.Status.Used[name] = quantity
		}
		if !total.Until.IsZero() {
			until = total.Until
		}
	}
	return until, errors.Join(errs...)
}

// count returns the usage of the objects of a resource. It reads them only if the quota limits
// them.
func count(ctx context.Context, store *registry.Store, next *corev1.ResourceQuota) (quota.Total, error) {
	evaluator := quota.EvaluatorOf(store.Resource().GroupResource())
	if !store.Resource().Namespaced || !evaluator.CountsAny(next.Status.Hard) {
		return quota.Total{}, nil
	}
	page, err := store.List(ctx, registry.ListRequest{Namespace: next.Namespace, IncludeCorrupt: true})
	if err != nil {
		return quota.Total{}, err
	}
	return evaluator.Total(next, page.Entries, registry.Now(ctx))
}
