package quota

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUsageOfAPodThatEnds(t *testing.T) {
	now := time.Now()
	deletedAt := func(at time.Time) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(at)), new(int64(30))
		}
	}
	for _, tc := range []struct {
		rule    string
		edit    func(*corev1.Pod)
		charged bool
	}{
		{"a running pod is charged", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, true},
		{"a failed pod is not charged", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
		{"a succeeded pod is not charged", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false},
		{"a pod is charged during its grace period", deletedAt(now.Add(-29 * time.Second)), true},
		{"a pod is not charged after its grace period", deletedAt(now.Add(-31 * time.Second)), false},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			pod := &corev1.Pod{}
			tc.edit(pod)
			used := podUsage(pod, now)
			if _, charged := used[corev1.ResourcePods]; charged != tc.charged {
				t.Errorf("charged %t, want %t", charged, tc.charged)
			}
			if objects := used["count/pods"]; objects.Value() != 1 {
				t.Errorf("%v objects, want 1", objects)
			}
		})
	}
}

func TestEventsAreNotLimited(t *testing.T) {
	evaluator := EvaluatorOf(corev1.Resource("events"))
	if evaluator.CountsAny(corev1.ResourceList{"count/events": newQuantity(1)}) {
		t.Error("a quota limits Events")
	}
}
