package deployment

import (
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Reasons of the condition Progressing that decide about the next one.
const (
	reasonAvailable = "NewReplicaSetAvailable"
	reasonTimedOut  = "ProgressDeadlineExceeded"
	reasonPaused    = "DeploymentPaused"
)

// hasDeadline reports whether the progress of a Deployment is limited in time.
func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

// isComplete reports whether, by its status, a Deployment has only new pods, all available.
func isComplete(d *appsv1.Deployment) bool {
	status, desired := &d.Status, *d.Spec.Replicas
	return status.UpdatedReplicas == desired && status.Replicas == desired && status.AvailableReplicas == desired &&
		status.ObservedGeneration >= d.Generation
}

// setPaused sets the condition Progressing when a Deployment is paused or resumed, so that the time
// of the pause does not count.
func (r *rollout) setPaused() {
	current := condition(r.d, appsv1.DeploymentProgressing)
	if !hasDeadline(r.d) || current != nil && current.Reason == reasonTimedOut {
		return
	}
	wasPaused := current != nil && current.Reason == reasonPaused
	switch {
	case r.d.Spec.Paused && !wasPaused:
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, reasonPaused, "Deployment is paused")
	case !r.d.Spec.Paused && wasPaused:
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed")
	}
}

// setProgress sets the condition Progressing by comparison with the former status.
func (r *rollout) setProgress(former *appsv1.DeploymentStatus) {
	if !hasDeadline(r.d) {
		r.removeCondition(appsv1.DeploymentProgressing)
		return
	}
	current, status := condition(r.d, appsv1.DeploymentProgressing), &r.d.Status
	if current != nil && current.Reason == reasonAvailable && status.Replicas == status.UpdatedReplicas {
		return // the rollout has ended before
	}
	switch {
	case isComplete(r.d):
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonAvailable,
			r.subject()+" has successfully progressed.")
	case hasProgressed(former, status):
		r.replaceCondition(r.newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated",
			r.subject()+" is progressing."))
	default:
		r.checkDeadline()
	}
}

// checkDeadline reports a rollout whose deadline has passed. Otherwise it sets the delay until the
// deadline.
func (r *rollout) checkDeadline() {
	current := condition(r.d, appsv1.DeploymentProgressing)
	if current == nil || current.Reason == reasonTimedOut || current.Reason == reasonAvailable {
		return
	}
	deadline := current.LastUpdateTime.Add(time.Duration(*r.d.Spec.ProgressDeadlineSeconds) * time.Second)
	if wait := deadline.Sub(r.now); wait >= 0 {
		r.again = wait + time.Millisecond
		return
	}
	r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, reasonTimedOut,
		r.subject()+" has timed out progressing.")
}

// subject returns the object of the texts about progress.
func (r *rollout) subject() string {
	if r.latest == nil {
		return fmt.Sprintf("Deployment %q", r.d.Name)
	}
	return fmt.Sprintf("ReplicaSet %q", r.latest.Name)
}

// hasProgressed reports whether more new pods exist than before, fewer old ones, or more ready or
// available ones.
func hasProgressed(former, now *appsv1.DeploymentStatus) bool {
	return now.UpdatedReplicas > former.UpdatedReplicas ||
		now.Replicas-now.UpdatedReplicas < former.Replicas-former.UpdatedReplicas ||
		now.ReadyReplicas > former.ReadyReplicas || now.AvailableReplicas > former.AvailableReplicas
}
