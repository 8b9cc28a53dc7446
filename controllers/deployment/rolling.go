package deployment

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
)

// roll takes a step of a rolling update: it grows the latest ReplicaSet as far as maxSurge allows,
// or else shrinks the old ones as far as maxUnavailable allows.
func (r *rollout) roll(ctx context.Context) error {
	if err := r.createLatest(ctx); err != nil {
		return err
	}
	if grown, err := r.scale(ctx, &r.latest, r.grownSize(r.latest)); grown || err != nil {
		return err
	}
	if shrunk, err := r.shrinkOld(ctx); shrunk || err != nil {
		return err
	}
	if isComplete(r.d) {
		return r.deleteHistory(ctx)
	}
	return nil
}

// grownSize returns the size that the latest ReplicaSet may have.
func (r *rollout) grownSize(latest *appsv1.ReplicaSet) int32 {
	desired, size := *r.d.Spec.Replicas, *latest.Spec.Replicas
	if size >= desired || r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return desired
	}
	spare := desired + maxSurge(r.d) - sum(r.old, desiredPods) - size
	return min(desired, size+max(0, spare))
}

// shrinkOld shrinks old ReplicaSets: first by pods that are not available, then by available pods
// that are not needed. It reports whether it did.
func (r *rollout) shrinkOld(ctx context.Context) (bool, error) {
	if sum(r.old, desiredPods) == 0 {
		return false, nil
	}
	needed := *r.d.Spec.Replicas - maxUnavailable(r.d)
	starting := *r.latest.Spec.Replicas - r.latest.Status.AvailableReplicas
	spare := sum(r.all(), desiredPods) - needed - starting
	if spare <= 0 {
		return false, nil
	}
	unavailable, err := r.shrink(ctx, spare, func(set *appsv1.ReplicaSet) int32 {
		return *set.Spec.Replicas - set.Status.AvailableReplicas
	})
	if err != nil {
		return false, err
	}
	available, err := r.shrink(ctx, sum(r.all(), keptPods)-needed, desiredPods)
	return unavailable || available, err
}

// keptPods returns the number of available pods that a ReplicaSet keeps. Its status may count pods
// that it is going to delete.
func keptPods(set *appsv1.ReplicaSet) int32 { return min(availablePods(set), desiredPods(set)) }

// shrink removes spare pods from the old ReplicaSets, the oldest first, and from each at most the
// number that excess returns. It reports whether it removed some.
func (r *rollout) shrink(ctx context.Context, spare int32, excess func(*appsv1.ReplicaSet) int32) (bool, error) {
	shrunk := false
	for i := range r.old {
		size := *r.old[i].Spec.Replicas
		removed := min(spare, excess(r.old[i]), size)
		if removed <= 0 {
			continue
		}
		if _, err := r.scale(ctx, &r.old[i], size-removed); err != nil {
			return shrunk, err
		}
		spare -= removed
		shrunk = true
	}
	return shrunk, nil
}
