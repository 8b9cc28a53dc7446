package pods

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var now = time.Unix(1_700_000_000, 0)

// newPod returns a pod on a node that became ready an hour ago, after the edits.
func newPod(uid types.UID, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: uid, CreationTimestamp: ago(time.Hour)},
		Spec:       corev1.PodSpec{NodeName: "node"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	readySinceAgo(time.Hour)(pod)
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func readySinceAgo(d time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(d)}}
	}
}

func unready(pod *corev1.Pod) { pod.Status.Conditions = nil }

func cost(value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations = map[string]string{corev1.PodDeletionCost: value} }
}

func restarts(n int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: n}} }
}

func sidecarRestarts(n int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "s", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "s", RestartCount: n}}
	}
}

func TestByDeletion(t *testing.T) {
	on := func(node string) func(*corev1.Pod) { return func(pod *corev1.Pod) { pod.Spec.NodeName = node } }
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Status.Phase = phase }
	}
	created := func(d time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.CreationTimestamp = ago(d) }
	}
	// The UID of the pod to delete is the greater one, so that the order by UID is not its reason.
	for rule, pair := range map[string][2]*corev1.Pod{
		"without a node before ready":            {newPod("2", on("")), newPod("1", unready)},
		"pending before running":                 {newPod("2", phase(corev1.PodPending)), newPod("1", unready)},
		"pending before unknown":                 {newPod("2", phase(corev1.PodPending)), newPod("1", phase(corev1.PodUnknown))},
		"unknown before running":                 {newPod("2", phase(corev1.PodUnknown)), newPod("1", unready)},
		"unready before ready":                   {newPod("2", unready, cost("5")), newPod("1")},
		"low cost before high cost":              {newPod("2", cost("-5")), newPod("1")},
		"an invalid cost is 0":                   {newPod("2", cost("08")), newPod("1", cost("1"))},
		"cost before neighbors":                  {newPod("2", on("empty")), newPod("1", cost("1"))},
		"neighbors before the time of readiness": {newPod("2"), newPod("1", on("empty"), readySinceAgo(time.Second))},
		"ready later before ready earlier":       {newPod("2", readySinceAgo(time.Second)), newPod("1", restarts(1))},
		"more restarts before fewer":             {newPod("2", restarts(2)), newPod("1", restarts(1), sidecarRestarts(5))},
		"more restarts of a sidecar":             {newPod("2", sidecarRestarts(2)), newPod("1", sidecarRestarts(1))},
		"new before old":                         {newPod("2", created(time.Second)), newPod("1")},
		"similar ages by UID":                    {newPod("1", created(61*time.Minute)), newPod("2", created(60*time.Minute))},
	} {
		related := []*corev1.Pod{newPod("3"), newPod("4")}
		for _, order := range [][]*corev1.Pod{{pair[0], pair[1]}, {pair[1], pair[0]}} {
			if first := ByDeletion(order, related, now)[0]; first != pair[0] {
				t.Errorf("%s: pod %s is deleted first", rule, first.UID)
			}
		}
	}
}

func TestAvailability(t *testing.T) {
	for rule, c := range map[string]struct {
		pod       *corev1.Pod
		min       int32
		available bool
		wait      time.Duration
	}{
		"a ready pod":                         {newPod("1", readySinceAgo(0)), 0, true, 0},
		"a pod that is not ready":             {newPod("1", unready), 0, false, 0},
		"a pod that has been ready too short": {newPod("1", readySinceAgo(4*time.Second)), 10, false, 6 * time.Second},
		"a pod that has been ready so long":   {newPod("1", readySinceAgo(10*time.Second)), 10, true, 0},
		"an unknown time of readiness": {newPod("1", func(pod *corev1.Pod) {
			pod.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		}), 1, false, 0},
	} {
		if got := IsAvailable(c.pod, c.min, now); got != c.available {
			t.Errorf("%s: available %v", rule, got)
		}
		if got := UntilAvailable([]*corev1.Pod{newPod("0"), c.pod}, c.min, now); got != c.wait {
			t.Errorf("%s: available after %v", rule, got)
		}
	}
}

func TestBatchesEndWithAnError(t *testing.T) {
	for failing, want := range map[int]int32{-1: 10, 0: 1, 1: 3, 2: 3, 3: 7} {
		var calls atomic.Int32
		failure := errors.New("refused")
		err := InBatches(10, func(i int) error {
			calls.Add(1)
			if i == failing {
				return failure
			}
			return nil
		})
		if calls.Load() != want || (failing >= 0) != errors.Is(err, failure) {
			t.Errorf("failure of %d: %d calls, error %v; want %d", failing, calls.Load(), err, want)
		}
	}
}
