package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/controllers/pods"
)

// setStatus counts the pods, and ends a rolling update whose pods are all new and ready.
func (r *rollout) setStatus() {
	r.set.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: r.set.Generation,
		CurrentRevision:    r.current.Name, UpdateRevision: r.update.Name,
		CollisionCount: r.set.Status.CollisionCount, Conditions: r.set.Status.Conditions,
	}
	status, desired := &r.set.Status, *r.set.Spec.Replicas
	for _, pod := range r.existing {
		status.Replicas++
		if isReady(pod) {
			status.ReadyReplicas++
		}
		if isReady(pod) && pods.IsAvailable(pod, r.set.Spec.MinReadySeconds, r.now) {
			status.AvailableReplicas++
		}
		if pod.DeletionTimestamp == nil && revisionOf(pod) == r.current.Name {
			status.CurrentReplicas++
		}
		if pod.DeletionTimestamp == nil && revisionOf(pod) == r.update.Name {
			status.UpdatedReplicas++
		}
	}
	if status.UpdatedReplicas == desired && status.ReadyReplicas == desired && status.Replicas == desired {
		status.CurrentReplicas, status.CurrentRevision = status.UpdatedReplicas, status.UpdateRevision
	}
}

func isReady(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning && pods.IsReady(pod) }

// isAvailable reports whether a pod exists, is available, and is not being deleted.
func (r *rollout) isAvailable(pod *corev1.Pod) bool {
	return pods.IsAvailable(pod, r.set.Spec.MinReadySeconds, r.now) && pod.DeletionTimestamp == nil
}

// revisionOf returns the name of the revision of a pod.
func revisionOf(pod *corev1.Pod) string { return pod.Labels[appsv1.StatefulSetRevisionLabel] }
