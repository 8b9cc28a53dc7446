package namespace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// content is the result of a pass over the objects in a namespace.
type content struct {
	// errs are the errors of deletions and lists.
	errs []error
	// undiscovered are the group versions whose discovery failed.
	undiscovered []schema.GroupVersion
	// remaining counts the objects by resource, and finalizers the objects by finalizer.
	remaining  map[schema.GroupVersionResource]int
	finalizers map[string]int
	// partial is set if the pass ended with the pods.
	partial bool
	// recheck is the time after which the remaining objects should be gone, 0 if their changes are
	// reported.
	recheck time.Duration
}

func newContent() *content {
	return &content{remaining: map[schema.GroupVersionResource]int{}, finalizers: map[string]int{}}
}

func (c *content) empty() bool { return len(c.remaining) == 0 }

// err returns the errors after which the pass is repeated.
func (c *content) err() error {
	errs := slices.Clone(c.errs)
	for _, gv := range c.undiscovered {
		errs = append(errs, fmt.Errorf("the resources of %s are unknown", gv))
	}
	return errors.Join(errs...)
}

// deleteContent deletes the objects in a namespace: the pods, and once they are gone the objects of
// all other kinds. An error of one kind does not prevent the deletion of the others.
func (c *Controller) deleteContent(ctx context.Context, ns *corev1.Namespace) *content {
	began := time.Now()
	defer func() { c.setDelay(ns.Name, time.Since(began)) }()
	result, snapshot := newContent(), c.config.Catalog.Snapshot()
	for gv, remote := range snapshot.Remotes() {
		if remote.Stale {
			result.undiscovered = append(result.undiscovered, gv)
		}
	}
	if pods, ok := snapshot.Store(corev1.Resource("pods")); ok {
		c.deletePods(ctx, pods, ns, result)
		if !result.empty() {
			result.partial = true
			return result
		}
	}
	for _, store := range snapshot.Stores() {
		if isDeletable(store.Resource()) && store.Resource().GroupResource() != corev1.Resource("pods") {
			c.deleteKind(ctx, store, ns, result, 0)
		}
	}
	for _, resource := range remoteResources(snapshot) {
		c.deleteRemote(ctx, resource, ns, result)
	}
	return result
}

func isDeletable(r *registry.Resource) bool {
	return r.Namespaced && slices.Contains(r.Verbs, "delete")
}

// setDelay sets the delay of the passes after changes of the content, so that a namespace with many
// objects does not use the server alone.
func (c *Controller) setDelay(namespace string, pass time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.terminating[namespace]; ok {
		c.terminating[namespace] = min(10*pass, maxDelay)
	}
}

// deletePods deletes the pods. Running pods remain until their grace period has ended.
func (c *Controller) deletePods(ctx context.Context, pods *registry.Store, ns *corev1.Namespace, result *content) {
	grace, err := gracePeriod(ctx, pods, ns.Name)
	if err != nil {
		result.add(podsError(ns.Name, err))
		return
	}
	if c.config.Clock.Now().Sub(ns.DeletionTimestamp.Time) >= grace {
		grace = 0
	}
	known := len(result.errs)
	c.deleteKind(ctx, pods, ns, result, grace)
	for i, err := range result.errs[known:] {
		result.errs[known+i] = podsError(ns.Name, err)
	}
	if !result.empty() && grace > 0 {
		result.recheck = grace/2 + time.Second
	}
}

func podsError(namespace string, err error) error {
	return fmt.Errorf("failed to delete pods for namespace: %s, err: %w", namespace, err)
}

// gracePeriod returns the longest grace period of the pods that have not ended.
func gracePeriod(ctx context.Context, pods *registry.Store, namespace string) (time.Duration, error) {
	list, err := registry.ReadAll[*corev1.Pod](ctx, pods, registry.ListRequest{Namespace: namespace})
	if err != nil {
		return 0, err
	}
	var longest int64
	for _, pod := range list {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if grace := pod.Spec.TerminationGracePeriodSeconds; grace != nil && !ended {
			longest = max(longest, *grace)
		}
	}
	return time.Duration(longest) * time.Second, nil
}

func (c *content) add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// deleteKind deletes the objects of one resource in a namespace and adds the remaining ones to the
// result. Objects without finalizers may remain during the grace period only.
func (c *Controller) deleteKind(ctx context.Context, store *registry.Store, ns *corev1.Namespace, result *content, grace time.Duration) {
	if err := deleteObjects(ctx, store, ns.Name); err != nil {
		result.add(err)
		return
	}
	count, finalizers, err := countObjects(ctx, store, ns.Name)
	if err != nil || count == 0 {
		result.add(err)
		return
	}
	resource := store.Resource().GroupResource().WithVersion(store.Resource().Versions[0].Name)
	result.addRemaining(resource, count, finalizers)
	if grace == 0 && len(finalizers) == 0 {
		result.add(unexpectedItems(ns.Name, resource))
	}
}

func (c *content) addRemaining(resource schema.GroupVersionResource, count int, finalizers map[string]int) {
	c.remaining[resource] = count
	for finalizer, n := range finalizers {
		c.finalizers[finalizer] += n
	}
}

func unexpectedItems(namespace string, resource schema.GroupVersionResource) error {
	return fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %v", namespace, resource)
}
