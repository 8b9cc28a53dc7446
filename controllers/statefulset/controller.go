package statefulset

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/controllers/revisions"
	"github.com/miniapi/miniapi/registry"
)

// controller reconciles StatefulSets.
type controller struct {
	sets    reconcile.Objects[*appsv1.StatefulSet]
	pods    pods.Control
	claims  reconcile.Objects[*corev1.PersistentVolumeClaim]
	history revisions.History
	events  reconcile.Recorder
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	const name = "statefulset-controller"
	c := &controller{
		sets:    reconcile.Objects[*appsv1.StatefulSet]{Catalog: config.Catalog, Resource: appsv1.Resource("statefulsets")},
		pods:    pods.NewControl(config, name),
		claims:  reconcile.Objects[*corev1.PersistentVolumeClaim]{Catalog: config.Catalog, Resource: corev1.Resource("persistentvolumeclaims")},
		history: revisions.NewHistory(config.Catalog, "controller.kubernetes.io/hash", hash),
		events:  reconcile.Recorder{Catalog: config.Catalog, Component: name, Logger: config.Logger},
	}
	return reconcile.New(config, reconcile.Spec[*appsv1.StatefulSet]{
		Name: name, Account: name, Objects: c.sets,
		Kind: kind().GroupKind(), Dependents: []schema.GroupResource{corev1.Resource("pods")},
		Reconcile: c.reconcile,
	})
}

func kind() schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind("StatefulSet") }

// hash returns the hash of a revision, as kube-controller-manager computes it.
func hash(workload revisions.Workload, data []byte) string {
	hash := fnv.New32()
	hash.Write(data)
	fmt.Fprint(hash, *workload.Collisions)
	return rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
}

// rollout is one reconciliation of a StatefulSet.
type rollout struct {
	*controller
	owner reconcile.Owner
	// set is a copy of the StatefulSet, whose status is written at the end.
	set *appsv1.StatefulSet
	now time.Time
	// existing are the pods of the set.
	existing []*corev1.Pod
	// claimsByName are the claims of the namespace, if the set has templates of claims.
	claimsByName map[string]*corev1.PersistentVolumeClaim
	// revisions are the revisions of the set. current is the revision before a rolling update,
	// update the revision of the template.
	revisions       []*appsv1.ControllerRevision
	current, update *appsv1.ControllerRevision
}

func (c *controller) reconcile(ctx context.Context, set *appsv1.StatefulSet) (time.Duration, error) {
	r, err := c.read(ctx, set)
	if err != nil {
		return 0, err
	}
	if err = r.setRevisions(ctx); err == nil {
		r.setStatus()
		err = r.step(ctx)
	}
	if _, statusErr := c.sets.PutStatus(ctx, set, r.set); err == nil {
		err = statusErr
	}
	if err == nil {
		err = c.history.Truncate(ctx, r.revisions, r.isUsed, *set.Spec.RevisionHistoryLimit)
	}
	return pods.UntilAvailable(r.existing, set.Spec.MinReadySeconds, r.now), reconcile.IgnoreTerminating(err)
}

// read returns the rollout of a set with its pods, some of which it may adopt or release.
func (c *controller) read(ctx context.Context, set *appsv1.StatefulSet) (*rollout, error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, err
	}
	r := &rollout{controller: c, owner: c.sets.Owner(set, kind()), set: set.DeepCopy(), now: registry.Now(ctx)}
	all, err := c.pods.List(ctx, set.Namespace, nil)
	if err != nil {
		return nil, err
	}
	r.existing, err = c.pods.Claim(ctx, r.owner, all, func(pod *corev1.Pod) bool {
		return selector.Matches(labels.Set(pod.Labels)) && ordinal(set, pod) >= 0
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(r.existing, func(a, b *corev1.Pod) int { return cmp.Compare(ordinal(set, a), ordinal(set, b)) })
	if r.revisions, err = c.history.List(ctx, r.owner, selector); err != nil {
		return nil, err
	}
	return r, r.readClaims(ctx)
}

func (r *rollout) readClaims(ctx context.Context) error {
	if len(r.set.Spec.VolumeClaimTemplates) == 0 {
		return nil
	}
	claims, err := r.claims.List(ctx, r.set.Namespace, nil)
	if err != nil {
		return err
	}
	r.claimsByName = map[string]*corev1.PersistentVolumeClaim{}
	for _, claim := range claims {
		r.claimsByName[claim.Name] = claim
	}
	return nil
}

// setRevisions sets the current revision and the revision of the template.
func (r *rollout) setRevisions(ctx context.Context) error {
	if r.set.Status.CollisionCount == nil {
		r.set.Status.CollisionCount = new(int32)
	}
	workload := revisions.Workload{Owner: r.owner, Template: &r.set.Spec.Template, Collisions: r.set.Status.CollisionCount}
	var err error
	r.update, err = r.history.Latest(ctx, &workload, r.revisions)
	r.set.Status.CollisionCount = workload.Collisions
	if err != nil {
		return err
	}
	r.current = r.update
	for _, revision := range r.revisions {
		if revision.Name == r.set.Status.CurrentRevision {
			r.current = revision
		}
	}
	return nil
}

// isUsed reports whether a revision is current, or the revision of the template or of a pod.
func (r *rollout) isUsed(revision *appsv1.ControllerRevision) bool {
	return revision.Name == r.current.Name || revision.Name == r.update.Name ||
		slices.ContainsFunc(r.existing, func(pod *corev1.Pod) bool { return revisionOf(pod) == revision.Name })
}

// report writes an Event about an action, such as "create", on an object such as "Pod web-0".
func (r *rollout) report(ctx context.Context, action, subject string, err error) {
	if err != nil {
		r.events.Warn(ctx, r.owner.ObjectReference(), "Failed"+action,
			fmt.Sprintf("%s %s in StatefulSet %s failed error: %s", action, subject, r.set.Name, err))
		return
	}
	r.events.Normal(ctx, r.owner.ObjectReference(), "Successful"+action,
		fmt.Sprintf("%s %s in StatefulSet %s successful", action, subject, r.set.Name))
}
