package daemonset

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/controllers/revisions"
	"github.com/miniapi/miniapi/registry"
)

const hashLabel = appsv1.DefaultDaemonSetUniqueLabelKey

// controller reconciles DaemonSets.
type controller struct {
	sets    reconcile.Objects[*appsv1.DaemonSet]
	pods    pods.Control
	nodes   reconcile.Objects[*corev1.Node]
	history revisions.History
	events  reconcile.Recorder
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	const name = "daemonset-controller"
	c := &controller{
		sets:  reconcile.Objects[*appsv1.DaemonSet]{Catalog: config.Catalog, Resource: appsv1.Resource("daemonsets")},
		pods:  pods.NewControl(config, name),
		nodes: reconcile.Objects[*corev1.Node]{Catalog: config.Catalog, Resource: corev1.Resource("nodes")},
		history: revisions.NewHistory(config.Catalog, hashLabel, func(workload revisions.Workload, _ []byte) string {
			return pods.TemplateHash(workload.Template, workload.Collisions)
		}),
		events: reconcile.Recorder{Catalog: config.Catalog, Component: name, Logger: config.Logger},
	}
	return reconcile.New(config, reconcile.Spec[*appsv1.DaemonSet]{
		Name: name, Account: "daemon-set-controller", Objects: c.sets,
		Kind: kind().GroupKind(), Dependents: []schema.GroupResource{corev1.Resource("pods")},
		Related:   []schema.GroupResource{corev1.Resource("nodes")},
		Reconcile: c.reconcile,
	})
}

func kind() schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind("DaemonSet") }

// rollout is one reconciliation of a DaemonSet.
type rollout struct {
	*controller
	owner reconcile.Owner
	// set is a copy of the DaemonSet, whose status is written at the end.
	set *appsv1.DaemonSet
	now time.Time
	// again is the delay until the next reconciliation, 0 for none.
	again time.Duration
	// targets are the nodes in alphabetical order.
	targets []*target
	// existing are the pods of the set. lost are the pods of deleted nodes.
	existing, lost []*corev1.Pod
	revisions      []*appsv1.ControllerRevision
	// hash is the hash of the revision of the template.
	hash string
}

func (c *controller) reconcile(ctx context.Context, set *appsv1.DaemonSet) (time.Duration, error) {
	if set.DeletionTimestamp != nil {
		return 0, nil
	}
	r, err := c.read(ctx, set)
	if err != nil {
		return 0, err
	}
	if err = r.setRevision(ctx); err == nil {
		err = r.step(ctx)
		r.setStatus()
	}
	if _, statusErr := c.sets.PutStatus(ctx, set, r.set); err == nil {
		err = statusErr
	}
	if err == nil {
		err = c.history.Truncate(ctx, r.revisions, r.isUsed, *set.Spec.RevisionHistoryLimit)
	}
	return r.again, reconcile.IgnoreTerminating(err)
}

// read returns the rollout of a set with its pods, some of which it may adopt or release.
func (c *controller) read(ctx context.Context, set *appsv1.DaemonSet) (*rollout, error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, err
	}
	r := &rollout{controller: c, owner: c.sets.Owner(set, kind()), set: set.DeepCopy(), now: registry.Now(ctx)}
	all, err := c.pods.List(ctx, set.Namespace, nil)
	if err != nil {
		return nil, err
	}
	r.existing, err = c.pods.Claim(ctx, r.owner, all, func(pod *corev1.Pod) bool { return selector.Matches(labels.Set(pod.Labels)) })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(r.existing, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	if r.revisions, err = c.history.List(ctx, r.owner, selector); err != nil {
		return nil, err
	}
	r.again = pods.UntilAvailable(r.existing, set.Spec.MinReadySeconds, r.now)
	return r, r.readTargets(ctx)
}

// setRevision sets the hash of the revision of the template, which it creates if it is new.
func (r *rollout) setRevision(ctx context.Context) error {
	workload := revisions.Workload{Owner: r.owner, Template: &r.set.Spec.Template, Collisions: r.set.Status.CollisionCount}
	latest, err := r.history.Latest(ctx, &workload, r.revisions)
	r.set.Status.CollisionCount = workload.Collisions
	if err == nil {
		r.hash = latest.Labels[hashLabel]
	}
	return err
}

// isUsed reports whether a revision is the revision of the template or of a pod.
func (r *rollout) isUsed(revision *appsv1.ControllerRevision) bool {
	hash := revision.Labels[hashLabel]
	return hash == r.hash || slices.ContainsFunc(r.existing, func(pod *corev1.Pod) bool { return pod.Labels[hashLabel] == hash })
}

// step corrects the number of pods on the nodes, or takes a step of a rolling update.
func (r *rollout) step(ctx context.Context) error {
	changes := r.manage(ctx)
	if changes.isEmpty() && r.set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		changes = r.roll()
	}
	return r.apply(ctx, changes)
}
