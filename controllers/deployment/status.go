package deployment

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setStatus counts the pods of the ReplicaSets and sets the conditions.
func (r *rollout) setStatus() {
	former, all := r.d.Status.DeepCopy(), r.all()
	available := sum(all, availablePods)
	r.d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: r.d.Generation,
		Replicas:           sum(all, actualPods), ReadyReplicas: sum(all, readyPods), AvailableReplicas: available,
		UnavailableReplicas: max(0, sum(all, desiredPods)-available),
		TerminatingReplicas: terminatingPods(all),
		CollisionCount:      former.CollisionCount,
		Conditions:          slices.Clone(former.Conditions),
	}
	if r.latest != nil {
		r.d.Status.UpdatedReplicas = r.latest.Status.Replicas
	}
	if available >= *r.d.Spec.Replicas-maxUnavailable(r.d) {
		r.setCondition(appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable",
			"Deployment has minimum availability.")
	} else {
		r.setCondition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable",
			"Deployment does not have minimum availability.")
	}
	if r.progresses {
		r.setProgress(former)
		r.setFailure()
	}
}

// terminatingPods returns the number of pods that are being deleted, nil if it is unknown.
func terminatingPods(sets []*appsv1.ReplicaSet) *int32 {
	var total int32
	for _, set := range sets {
		switch {
		case set.Status.TerminatingReplicas != nil:
			total += *set.Status.TerminatingReplicas
		case set.Status.ObservedGeneration > 0:
			return nil
		}
	}
	return &total
}

// setFailure copies the condition ReplicaFailure of a ReplicaSet, preferably of the latest one.
func (r *rollout) setFailure() {
	sets := r.all()
	slices.Reverse(sets)
	for _, set := range sets {
		for _, c := range set.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				r.setCondition(appsv1.DeploymentReplicaFailure, c.Status, c.Reason, c.Message)
				return
			}
		}
	}
	r.removeCondition(appsv1.DeploymentReplicaFailure)
}

// condition returns a condition of a Deployment, nil if it is absent.
func condition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if c := &d.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

func (r *rollout) newCondition(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) appsv1.DeploymentCondition {
	now := metav1.NewTime(r.now)
	return appsv1.DeploymentCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now,
	}
}

// setCondition adds or replaces a condition. A condition with the same status and reason stays as
// it is.
func (r *rollout) setCondition(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	if current := condition(r.d, kind); current == nil || current.Status != status || current.Reason != reason {
		r.replaceCondition(r.newCondition(kind, status, reason, message))
	}
}

// replaceCondition adds or replaces a condition. A condition with the same status keeps the time of
// its transition.
func (r *rollout) replaceCondition(next appsv1.DeploymentCondition) {
	if current := condition(r.d, next.Type); current != nil && current.Status == next.Status {
		next.LastTransitionTime = current.LastTransitionTime
	}
	r.removeCondition(next.Type)
	r.d.Status.Conditions = append(r.d.Status.Conditions, next)
}

func (r *rollout) removeCondition(kind appsv1.DeploymentConditionType) {
	r.d.Status.Conditions = slices.DeleteFunc(r.d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == kind
	})
}
