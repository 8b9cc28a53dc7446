package daemonset

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/controllers/pods"
)

// setStatus counts the nodes by their oldest pods.
func (r *rollout) setStatus() {
	status := appsv1.DaemonSetStatus{
		ObservedGeneration: r.set.Generation,
		CollisionCount:     r.set.Status.CollisionCount, Conditions: r.set.Status.Conditions,
	}
	for _, t := range r.targets {
		switch {
		case t.runs:
			status.DesiredNumberScheduled++
		case len(t.pods) > 0:
			status.NumberMisscheduled++
		}
		if !t.runs || len(t.pods) == 0 {
			continue
		}
		status.CurrentNumberScheduled++
		pod := t.pods[0]
		if pods.IsReady(pod) {
			status.NumberReady++
		}
		if r.isAvailable(pod) {
			status.NumberAvailable++
		}
		if r.isUpdated(pod) {
			status.UpdatedNumberScheduled++
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	r.set.Status = status
}
