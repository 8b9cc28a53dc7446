package replicaset

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/miniapi/miniapi/controllers/pods"
)

// setStatus counts the active pods, and reports the error of a creation or deletion of pods.
func setStatus(set *appsv1.ReplicaSet, active []*corev1.Pod, now time.Time, failure error) {
	status, template := &set.Status, labels.SelectorFromSet(set.Spec.Template.Labels)
	status.ObservedGeneration = set.Generation
	status.Replicas = int32(len(active))
	status.FullyLabeledReplicas, status.ReadyReplicas, status.AvailableReplicas = 0, 0, 0
	for _, pod := range active {
		if template.Matches(labels.Set(pod.Labels)) {
			status.FullyLabeledReplicas++
		}
		if pods.IsReady(pod) {
			status.ReadyReplicas++
		}
		if pods.IsAvailable(pod, set.Spec.MinReadySeconds, now) {
			status.AvailableReplicas++
		}
	}
	setFailure(set, len(active), now, failure)
}

// setFailure sets or removes the condition ReplicaFailure. The text is of the first error.
func setFailure(set *appsv1.ReplicaSet, active int, now time.Time, failure error) {
	isFailure := func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }
	if failure == nil {
		set.Status.Conditions = slices.DeleteFunc(set.Status.Conditions, isFailure)
		return
	}
	if slices.ContainsFunc(set.Status.Conditions, isFailure) {
		return
	}
	reason := "FailedCreate"
	if active > int(*set.Spec.Replicas) {
		reason = "FailedDelete"
	}
	set.Status.Conditions = append(set.Status.Conditions, appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
		Reason: reason, Message: failure.Error(),
	})
}
