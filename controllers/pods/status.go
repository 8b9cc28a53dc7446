package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// IsActive reports whether a pod has neither ended nor is being deleted.
func IsActive(pod *corev1.Pod) bool { return !HasEnded(pod) && pod.DeletionTimestamp == nil }

// IsTerminating reports whether a pod is being deleted and has not ended.
func IsTerminating(pod *corev1.Pod) bool { return !HasEnded(pod) && pod.DeletionTimestamp != nil }

// HasEnded reports whether the containers of a pod have ended and are not restarted.
func HasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// IsReady reports whether the condition Ready of a pod is true.
func IsReady(pod *corev1.Pod) bool {
	ready := Condition(pod, corev1.PodReady)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

// IsAvailable reports whether a pod is ready at a time, and has been so for a number of seconds.
func IsAvailable(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	if !IsReady(pod) {
		return false
	}
	since := readySince(pod)
	return minReadySeconds == 0 || !since.IsZero() && !since.Add(seconds(minReadySeconds)).After(now)
}

// UntilAvailable returns the time until the next of the pods becomes available, 0 if none is going
// to become available without another change.
func UntilAvailable(pods []*corev1.Pod, minReadySeconds int32, now time.Time) time.Duration {
	var next time.Duration
	for _, pod := range pods {
		if !IsReady(pod) || IsAvailable(pod, minReadySeconds, now) || readySince(pod).IsZero() {
			continue
		}
		if wait := readySince(pod).Add(seconds(minReadySeconds)).Sub(now); next == 0 || wait < next {
			next = wait
		}
	}
	return next
}

// Condition returns a condition of a pod, nil if it is absent.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == kind {
			return condition
		}
	}
	return nil
}

// readySince returns the time at which a pod became ready, the zero time if it is not ready or if
// the time is unknown.
func readySince(pod *corev1.Pod) time.Time {
	if !IsReady(pod) {
		return time.Time{}
	}
	return Condition(pod, corev1.PodReady).LastTransitionTime.Time
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
