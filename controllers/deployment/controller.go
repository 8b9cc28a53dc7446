package deployment

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
)

// recheckDelay is the delay after which a rollout that waits for the end of old pods continues, if
// the status of ReplicaSets does not have the number of pods that are being deleted.
const recheckDelay = time.Second

// controller reconciles Deployments.
type controller struct {
	deployments reconcile.Objects[*appsv1.Deployment]
	sets        reconcile.Objects[*appsv1.ReplicaSet]
	pods        pods.Control
	events      reconcile.Recorder
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	const name = "deployment-controller"
	c := &controller{
		deployments: reconcile.Objects[*appsv1.Deployment]{Catalog: config.Catalog, Resource: appsv1.Resource("deployments")},
		sets:        reconcile.Objects[*appsv1.ReplicaSet]{Catalog: config.Catalog, Resource: appsv1.Resource("replicasets")},
		pods:        pods.NewControl(config, name),
		events:      reconcile.Recorder{Catalog: config.Catalog, Component: name, Logger: config.Logger},
	}
	return reconcile.New(config, reconcile.Spec[*appsv1.Deployment]{
		Name: name, Account: name, Objects: c.deployments,
		Kind: kind().GroupKind(), Dependents: []schema.GroupResource{appsv1.Resource("replicasets")},
		Reconcile: c.reconcile,
	})
}

func kind() schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind("Deployment") }

// rollout is one reconciliation of a Deployment.
type rollout struct {
	*controller
	owner reconcile.Owner
	// d is a copy of the Deployment. Its status and its annotations are written at the end.
	d *appsv1.Deployment
	// latest is the ReplicaSet with the template of the Deployment, nil if there is none. old are
	// the other ones, the oldest first.
	latest *appsv1.ReplicaSet
	old    []*appsv1.ReplicaSet
	// progresses is set if the step belongs to a rollout, whose progress is estimated.
	progresses bool
	// again is the delay until the next reconciliation, 0 for none.
	again time.Duration
	now   time.Time
}

func (c *controller) reconcile(ctx context.Context, d *appsv1.Deployment) (time.Duration, error) {
	r, err := c.read(ctx, d)
	if err != nil {
		return 0, err
	}
	if err = r.step(ctx); err == nil {
		r.setStatus()
	}
	if _, statusErr := c.deployments.PutStatus(ctx, d, r.d); err == nil {
		err = statusErr
	}
	return r.again, err
}

// step brings the ReplicaSets closer to the desired state.
func (r *rollout) step(ctx context.Context) error {
	if r.d.DeletionTimestamp != nil {
		return nil
	}
	r.setPaused()
	if err := r.syncLatest(ctx); err != nil {
		return err
	}
	switch {
	case r.d.Spec.Paused:
		if err := r.resize(ctx); err != nil {
			return err
		}
		return r.deleteHistory(ctx)
	case r.isResized():
		return r.resize(ctx)
	}
	r.progresses = true
	if r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return r.recreate(ctx)
	}
	return r.roll(ctx)
}

// warn writes an Event of type Warning about the Deployment.
func (r *rollout) warn(ctx context.Context, reason, message string) {
	r.events.Warn(ctx, r.owner.ObjectReference(), reason, message)
}

// all returns the ReplicaSets, the latest one last.
func (r *rollout) all() []*appsv1.ReplicaSet {
	if r.latest == nil {
		return r.old
	}
	return append(r.old[:len(r.old):len(r.old)], r.latest)
}

// active returns the ReplicaSets that should have pods.
func active(sets []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	var found []*appsv1.ReplicaSet
	for _, set := range sets {
		if *set.Spec.Replicas > 0 {
			found = append(found, set)
		}
	}
	return found
}

// sum adds up a number of each ReplicaSet.
func sum(sets []*appsv1.ReplicaSet, number func(*appsv1.ReplicaSet) int32) int32 {
	var total int32
	for _, set := range sets {
		total += number(set)
	}
	return total
}

func desiredPods(set *appsv1.ReplicaSet) int32   { return *set.Spec.Replicas }
func actualPods(set *appsv1.ReplicaSet) int32    { return set.Status.Replicas }
func readyPods(set *appsv1.ReplicaSet) int32     { return set.Status.ReadyReplicas }
func availablePods(set *appsv1.ReplicaSet) int32 { return set.Status.AvailableReplicas }
