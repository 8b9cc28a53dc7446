package deployment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// limits returns maxSurge and maxUnavailable as numbers of pods. At least one of them is not 0.
func limits(d *appsv1.Deployment) (surge, unavailable int32) {
	rolling := d.Spec.Strategy.RollingUpdate
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || rolling == nil {
		return 0, 0
	}
	surge = scaled(rolling.MaxSurge, *d.Spec.Replicas, true)
	unavailable = scaled(rolling.MaxUnavailable, *d.Spec.Replicas, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, *d.Spec.Replicas)
}

// scaled returns a number, or a share of a total number. Validation rejects other values.
func scaled(value *intstr.IntOrString, total int32, roundUp bool) int32 {
	if value == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, int(total), roundUp)
	if err != nil {
		return 0
	}
	return int32(n)
}

func maxSurge(d *appsv1.Deployment) int32 {
	surge, _ := limits(d)
	return surge
}

func maxUnavailable(d *appsv1.Deployment) int32 {
	_, unavailable := limits(d)
	return unavailable
}

// isResized reports whether the size of the Deployment has changed since its ReplicaSets got their
// size.
func (r *rollout) isResized() bool {
	return slices.ContainsFunc(active(r.all()), func(set *appsv1.ReplicaSet) bool {
		desired, ok := recordedSize(set, desiredAnnotation)
		return ok && desired != *r.d.Spec.Replicas
	})
}

// resize gives the Deployment its size: to its only active ReplicaSet, or to the active ones in
// proportion to their size in the middle of a rollout.
func (r *rollout) resize(ctx context.Context) error {
	sets := active(r.all())
	switch {
	case len(sets) <= 1:
		if only := r.onlySet(sets); only != nil {
			_, err := r.scale(ctx, only, *r.d.Spec.Replicas)
			return err
		}
	case r.isSaturated():
		for i := range r.old {
			if _, err := r.scale(ctx, &r.old[i], 0); err != nil {
				return err
			}
		}
	case r.d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType:
		return r.resizeProportionally(ctx, sets)
	}
	return nil
}

// onlySet returns the place of the only active ReplicaSet, or of the newest one, nil if there is
// none.
func (r *rollout) onlySet(active []*appsv1.ReplicaSet) **appsv1.ReplicaSet {
	for i := range r.old {
		if slices.Contains(active, r.old[i]) {
			return &r.old[i]
		}
	}
	switch {
	case r.latest != nil:
		return &r.latest
	case len(r.old) > 0:
		return &r.old[len(r.old)-1]
	}
	return nil
}

// isSaturated reports whether the latest ReplicaSet has all pods of the Deployment, available.
func (r *rollout) isSaturated() bool {
	if r.latest == nil {
		return false
	}
	desired, ok := recordedSize(r.latest, desiredAnnotation)
	size := *r.d.Spec.Replicas
	return ok && desired == size && *r.latest.Spec.Replicas == size && r.latest.Status.AvailableReplicas == size
}

// resizeProportionally adds pods to the active ReplicaSets, or removes some, in proportion to their
// size. The largest one gets the remainder. Of equal ones, the newest grows first and the oldest
// shrinks first.
func (r *rollout) resizeProportionally(ctx context.Context, sets []*appsv1.ReplicaSet) error {
	var allowed int32
	if *r.d.Spec.Replicas > 0 {
		allowed = *r.d.Spec.Replicas + maxSurge(r.d)
	}
	missing := allowed - sum(sets, desiredPods)
	slices.SortFunc(sets, func(a, b *appsv1.ReplicaSet) int {
		age := byAge(a, b)
		if missing > 0 {
			age = -age
		}
		return cmp.Or(cmp.Compare(*b.Spec.Replicas, *a.Spec.Replicas), age)
	})
	shares, rest := make([]int32, len(sets)), missing
	for i, set := range sets {
		shares[i] = r.share(set, missing, rest)
		rest -= shares[i]
	}
	shares[0] += rest
	for i, set := range sets {
		if _, err := r.setSize(ctx, &set, max(0, *set.Spec.Replicas+shares[i])); err != nil {
			return err
		}
	}
	return nil
}

// share returns the part of the missing pods for a ReplicaSet, at most the rest.
func (r *rollout) share(set *appsv1.ReplicaSet, missing, rest int32) int32 {
	if missing == 0 || rest == 0 {
		return 0
	}
	if missing > 0 {
		return min(r.growth(set), rest)
	}
	return max(r.growth(set), rest)
}

// growth returns the number of pods by which a ReplicaSet grows with its Deployment.
func (r *rollout) growth(set *appsv1.ReplicaSet) int32 {
	size := *set.Spec.Replicas
	if *r.d.Spec.Replicas == 0 {
		return -size
	}
	before, ok := recordedSize(set, maxAnnotation)
	if !ok || before == 0 {
		before = r.d.Status.Replicas
	}
	if before == 0 {
		return 0
	}
	now := float64(size*(*r.d.Spec.Replicas+maxSurge(r.d))) / float64(before)
	return int32(math.Round(now)) - size
}

// scale gives a ReplicaSet a size if it has another one, and reports whether it had.
func (r *rollout) scale(ctx context.Context, set **appsv1.ReplicaSet, size int32) (bool, error) {
	if *(*set).Spec.Replicas == size {
		return false, nil
	}
	return r.setSize(ctx, set, size)
}

// setSize gives a ReplicaSet a size and records the size of the Deployment. It reports whether the
// size of the ReplicaSet has changed.
func (r *rollout) setSize(ctx context.Context, set **appsv1.ReplicaSet, size int32) (bool, error) {
	former := *(*set).Spec.Replicas
	updated, err := r.sets.Update(ctx, *set, func(set *appsv1.ReplicaSet) {
		*set.Spec.Replicas = size
		setSizeAnnotations(set, r.d)
	})
	if err != nil {
		return false, err
	}
	*set = updated
	if former != size {
		r.reportScaling(ctx, updated.Name, former, size)
	}
	return former != size, nil
}

func (r *rollout) reportScaling(ctx context.Context, set string, from, to int32) {
	direction := "up"
	if to < from {
		direction = "down"
	}
	r.events.Normal(ctx, r.owner.ObjectReference(), "ScalingReplicaSet",
		fmt.Sprintf("Scaled %s replica set %s from %d to %d", direction, set, from, to))
}
