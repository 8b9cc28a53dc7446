package pods

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ByDeletion returns pods in the order in which a workload that shrinks deletes them:
//
//  1. pods without a node,
//  2. pending pods, then pods of an unknown phase, then running pods,
//  3. pods that are not ready,
//  4. pods with a lower annotation controller.kubernetes.io/pod-deletion-cost,
//  5. pods on nodes with more of the related pods that are active,
//  6. pods that became ready later,
//  7. pods with more restarts of a container, then of a sidecar container,
//  8. newer pods.
//
// Times are compared on a logarithmic scale, and pods with similar times by UID.
func ByDeletion(pods, related []*corev1.Pod, now time.Time) []*corev1.Pod {
	neighbors := map[string]int{}
	for _, pod := range related {
		if IsActive(pod) {
			neighbors[pod.Spec.NodeName]++
		}
	}
	return slices.SortedStableFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(
			compareBools(a.Spec.NodeName != "", b.Spec.NodeName != ""),
			cmp.Compare(phaseRank(a), phaseRank(b)),
			compareBools(IsReady(a), IsReady(b)),
			cmp.Compare(deletionCost(a), deletionCost(b)),
			cmp.Compare(neighbors[b.Spec.NodeName], neighbors[a.Spec.NodeName]),
			compareAges(a, b, readySince, now),
			compareRestarts(a, b),
			compareAges(a, b, createdAt, now),
		)
	})
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// phaseRank is lower for pods to delete first. Pods that have ended have the rank of pending pods.
func phaseRank(pod *corev1.Pod) int {
	switch pod.Status.Phase {
	case corev1.PodUnknown:
		return 1
	case corev1.PodRunning:
		return 2
	}
	return 0
}

// deletionCost returns the value of the annotation. It is 0 if the annotation is absent or invalid:
// no integer of 32 bits, or with a plus sign or leading zeros.
func deletionCost(pod *corev1.Pod) int32 {
	value := pod.Annotations[corev1.PodDeletionCost]
	digits := strings.TrimPrefix(value, "-")
	if strings.HasPrefix(value, "+") || strings.HasPrefix(digits, "0") && value != "0" {
		return 0
	}
	cost, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return 0
	}
	return int32(cost)
}

func createdAt(pod *corev1.Pod) time.Time { return pod.CreationTimestamp.Time }

// compareAges orders pods by a time, unknown times first and later times before earlier ones.
func compareAges(a, b *corev1.Pod, at func(*corev1.Pod) time.Time, now time.Time) int {
	timeA, timeB := at(a), at(b)
	switch {
	case timeA.Equal(timeB):
		return 0
	case timeA.IsZero():
		return -1
	case timeB.IsZero():
		return 1
	}
	return cmp.Or(cmp.Compare(magnitude(now.Sub(timeA)), magnitude(now.Sub(timeB))), cmp.Compare(a.UID, b.UID))
}

// magnitude returns the binary logarithm of an age.
func magnitude(age time.Duration) int {
	if age <= 0 {
		return -1
	}
	return int(math.Log2(float64(age)))
}

func compareRestarts(a, b *corev1.Pod) int {
	return cmp.Or(
		cmp.Compare(maxRestarts(b.Status.ContainerStatuses, nil), maxRestarts(a.Status.ContainerStatuses, nil)),
		cmp.Compare(maxRestarts(b.Status.InitContainerStatuses, b), maxRestarts(a.Status.InitContainerStatuses, a)),
	)
}

// maxRestarts returns the maximum number of restarts of a container, with sidecarsOf of a sidecar
// container of the pod.
func maxRestarts(statuses []corev1.ContainerStatus, sidecarsOf *corev1.Pod) int32 {
	var restarts int32
	for _, status := range statuses {
		if sidecarsOf == nil || isSidecar(sidecarsOf, status.Name) {
			restarts = max(restarts, status.RestartCount)
		}
	}
	return restarts
}

func isSidecar(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}
