package replicaset

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

// parallelDeletions is the number of pods of a ReplicaSet that are deleted at the same time.
const parallelDeletions = 16

// controller reconciles ReplicaSets.
type controller struct {
	sets reconcile.Objects[*appsv1.ReplicaSet]
	pods pods.Control
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &controller{
		sets: reconcile.Objects[*appsv1.ReplicaSet]{Catalog: config.Catalog, Resource: appsv1.Resource("replicasets")},
		pods: pods.NewControl(config, "replicaset-controller"),
	}
	return reconcile.New(config, reconcile.Spec[*appsv1.ReplicaSet]{
		Name: "replicaset-controller", Account: "replicaset-controller", Objects: c.sets,
		Kind: kind().GroupKind(), Dependents: []schema.GroupResource{corev1.Resource("pods")},
		Reconcile: c.reconcile,
	})
}

func kind() schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind("ReplicaSet") }

// reconcile creates or deletes pods, and updates the status for the pods that it found.
func (c *controller) reconcile(ctx context.Context, set *appsv1.ReplicaSet) (time.Duration, error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return 0, err
	}
	all, err := c.pods.List(ctx, set.Namespace, nil)
	if err != nil {
		return 0, err
	}
	matches := func(pod *corev1.Pod) bool { return selector.Matches(labels.Set(pod.Labels)) }
	owner := c.sets.Owner(set, kind())
	active, err := c.pods.Claim(ctx, owner, filter(all, pods.IsActive), matches)
	if err != nil {
		return 0, err
	}
	var failure error
	if set.DeletionTimestamp == nil {
		failure = c.scale(ctx, owner, set, active)
	}
	terminating := filter(all, func(pod *corev1.Pod) bool {
		return pods.IsTerminating(pod) && metav1.IsControlledBy(pod, set) && matches(pod)
	})
	now, updated := registry.Now(ctx), set.DeepCopy()
	setStatus(updated, active, now, failure)
	updated.Status.TerminatingReplicas = new(int32(len(terminating)))
	_, err = c.sets.PutStatus(ctx, set, updated)
	return pods.UntilAvailable(active, set.Spec.MinReadySeconds, now), cmp.Or(failure, err)
}

// scale creates the missing pods, or deletes the superfluous ones.
func (c *controller) scale(ctx context.Context, owner reconcile.Owner, set *appsv1.ReplicaSet, active []*corev1.Pod) error {
	missing := int(*set.Spec.Replicas) - len(active)
	if missing >= 0 {
		return pods.InBatches(missing, func(int) error {
			_, err := c.pods.CreateFor(ctx, owner, pods.FromTemplate(&set.Spec.Template, owner))
			return reconcile.IgnoreTerminating(err)
		})
	}
	related, err := c.related(ctx, set)
	if err != nil {
		return err
	}
	var deletions errgroup.Group
	deletions.SetLimit(parallelDeletions)
	for _, pod := range pods.ByDeletion(active, related, registry.Now(ctx))[:-missing] {
		deletions.Go(func() error { return c.pods.DeleteFor(ctx, owner, pod) })
	}
	return deletions.Wait()
}

// related returns the pods of a ReplicaSet, and of all ReplicaSets with the same controller.
func (c *controller) related(ctx context.Context, set *appsv1.ReplicaSet) ([]*corev1.Pod, error) {
	sets, err := c.sets.List(ctx, set.Namespace, nil)
	if err != nil {
		return nil, err
	}
	controller := metav1.GetControllerOfNoCopy(set)
	var related []*corev1.Pod
	for _, sibling := range sets {
		other := metav1.GetControllerOfNoCopy(sibling)
		if sibling.UID != set.UID && (controller == nil || other == nil || controller.UID != other.UID) {
			continue
		}
		controlled, err := c.pods.Controlled(ctx, sibling)
		if err != nil {
			return nil, err
		}
		related = append(related, controlled...)
	}
	return related, nil
}

func filter(list []*corev1.Pod, keep func(*corev1.Pod) bool) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, pod := range list {
		if keep(pod) {
			kept = append(kept, pod)
		}
	}
	return kept
}
