package daemonset

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// limits returns maxSurge and maxUnavailable as numbers of nodes. At least one of them is not 0.
func (r *rollout) limits() (surge, unavailable int) {
	nodes := 0
	for _, t := range r.targets {
		if t.runs {
			nodes++
		}
	}
	surge, unavailable = r.scaled(nodes)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// scaled returns maxSurge and maxUnavailable for a number of nodes. Validation rejects other
// values.
func (r *rollout) scaled(nodes int) (surge, unavailable int) {
	rolling := r.set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		return 0, 0
	}
	zero := intstr.FromInt32(0)
	surge, _ = intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(rolling.MaxSurge, zero), nodes, true)
	unavailable, _ = intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(rolling.MaxUnavailable, zero), nodes, true)
	return surge, unavailable
}

// surges reports whether a new pod may exist beside an old one.
func (r *rollout) surges() bool {
	surge, _ := r.scaled(1)
	return surge > 0
}

// split returns the new and the old pod of a node. After manage a node has at most one of each.
func (r *rollout) split(t *target) (updated, old *corev1.Pod) {
	for _, pod := range undeleted(t.pods) {
		if r.isUpdated(pod) {
			updated = pod
		} else {
			old = pod
		}
	}
	return updated, old
}

// roll returns the changes of a step of a rolling update.
func (r *rollout) roll() changes {
	surge, unavailable := r.limits()
	if surge > 0 {
		return r.rollWithSurge(surge)
	}
	return r.rollInPlace(unavailable)
}

// rollInPlace deletes old pods: all unavailable pods, and available pods as far as the limit
// allows. manage creates the new pods.
func (r *rollout) rollInPlace(limit int) changes {
	var c changes
	var candidates []*corev1.Pod
	for _, t := range r.targets {
		if !t.runs && len(t.pods) == 0 {
			continue
		}
		updated, old := r.split(t)
		switch {
		case old == nil && (updated == nil || !r.isAvailable(updated)):
			limit--
		case old == nil:
		case !r.isAvailable(old):
			limit--
			c.remove = append(c.remove, old)
		default:
			candidates = append(candidates, old)
		}
	}
	c.remove = append(c.remove, candidates[:min(max(0, limit), len(candidates))]...)
	return c
}

// rollWithSurge creates new pods beside old ones: on nodes whose old pod is not available, and on
// others as far as the limit allows. It deletes the old pod when the new one is available. A node
// that should have no pod loses its old one when the other nodes have an available pod.
func (r *rollout) rollWithSurge(limit int) changes {
	var c changes
	var candidates []string
	var misplaced []*corev1.Pod
	surplus := 0
	for _, t := range r.targets {
		if t.runs {
			surplus--
		}
		updated, old := r.split(t)
		if old != nil && r.isAvailable(old) || old == nil && updated != nil && r.isAvailable(updated) {
			surplus++
		}
		switch {
		case old == nil:
		case updated != nil && !r.isAvailable(updated):
			limit--
		case updated != nil || !t.runs && !r.isAvailable(old):
			c.remove = append(c.remove, old)
		case !t.runs:
			misplaced = append(misplaced, old)
		case !r.isAvailable(old):
			c.create = append(c.create, t.name)
		default:
			candidates = append(candidates, t.name)
		}
	}
	c.remove = append(c.remove, misplaced[:min(max(0, surplus), len(misplaced))]...)
	c.create = append(c.create, candidates[:min(max(0, limit), len(candidates))]...)
	return c
}
