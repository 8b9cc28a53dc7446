package deployment

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// recreate takes a step of a rollout with the strategy Recreate: it ends all old pods, and when
// they are gone, creates the new ones.
func (r *rollout) recreate(ctx context.Context) error {
	shrunk := false
	for i := range r.old {
		scaled, err := r.scale(ctx, &r.old[i], 0)
		if err != nil {
			return err
		}
		shrunk = shrunk || scaled
	}
	if shrunk {
		return nil
	}
	running, err := r.oldPodsRun(ctx)
	if err != nil {
		return err
	}
	if running {
		r.again = recheckDelay
		return nil
	}
	if err := r.createLatest(ctx); err != nil {
		return err
	}
	if _, err := r.scale(ctx, &r.latest, *r.d.Spec.Replicas); err != nil {
		return err
	}
	if isComplete(r.d) {
		return r.deleteHistory(ctx)
	}
	return nil
}

// oldPodsRun reports whether pods of old ReplicaSets have not ended.
func (r *rollout) oldPodsRun(ctx context.Context) (bool, error) {
	if sum(r.old, actualPods) > 0 {
		return true, nil
	}
	for _, set := range r.old {
		controlled, err := r.pods.Controlled(ctx, set)
		if err != nil {
			return false, err
		}
		for _, pod := range controlled {
			if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
				return true, nil
			}
		}
	}
	return false, nil
}
