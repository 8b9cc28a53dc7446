package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// indexes is a set of completion indexes.
type indexes map[int]bool

// parseIndexes parses a list such as "1,3-5,7". Invalid parts are ignored.
func parseIndexes(text string) indexes {
	set := indexes{}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(high); err != nil {
				continue
			}
		}
		for i := first; i <= last; i++ {
			set[i] = true
		}
	}
	return set
}

// String returns the list that parseIndexes parses. Ranges have at least three indexes.
func (set indexes) String() string {
	var parts []string
	sorted := slices.Sorted(maps.Keys(set))
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n] == sorted[0]+n {
			n++
		}
		switch first, last := sorted[0], sorted[n-1]; n {
		case 1:
			parts = append(parts, strconv.Itoa(first))
		case 2:
			parts = append(parts, fmt.Sprintf("%d,%d", first, last))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
		sorted = sorted[n:]
	}
	return strings.Join(parts, ",")
}

// countIn returns the number of indexes that are in another set too.
func (set indexes) countIn(other indexes) int {
	n := 0
	for i := range set {
		if other[i] {
			n++
		}
	}
	return n
}

// indexOf returns the completion index of a pod, and false if it has no valid one.
func (s *state) indexOf(pod *corev1.Pod) (index int, ok bool) {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	completions := s.job.Spec.Completions
	return index, err == nil && index >= 0 && completions != nil && index < int(*completions)
}

// failuresOf returns the number of failures of the index of a pod before the pod.
func failuresOf(pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Annotations[batchv1.JobIndexFailureCountAnnotation])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// indexHasFailed reports whether a failed pod ends its index.
func (s *state) indexHasFailed(pod *corev1.Pod) bool {
	limit := s.job.Spec.BackoffLimitPerIndex
	if limit == nil {
		return false
	}
	action, _ := matchFailurePolicy(s.job.Spec.PodFailurePolicy, pod)
	return action == batchv1.PodFailurePolicyActionFailIndex || failuresOf(pod) >= int(*limit)
}

// pendingIndexes returns the first n indexes without a pod that is active or has succeeded. Failed
// indexes and indexes that wait for a terminating pod to fail are excluded.
func (s *state) pendingIndexes(n int) []int {
	used := maps.Clone(s.completed)
	maps.Copy(used, s.failedIndexes)
	for _, pod := range s.pods {
		if index, ok := s.indexOf(pod); ok && s.outcome(pod) == unfinished {
			used[index] = true
		}
	}
	var pending []int
	for i := 0; i < int(*s.job.Spec.Completions) && len(pending) < n; i++ {
		if !used[i] {
			pending = append(pending, i)
		}
	}
	return pending
}

// superfluous returns the active pods that have no valid index, and all but the oldest of the
// active pods of an index.
func (s *state) superfluous() []*corev1.Pod {
	kept := map[int]bool{}
	var rest []*corev1.Pod
	byAge := slices.SortedStableFunc(slices.Values(s.active), func(a, b *corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	for _, pod := range byAge {
		index, ok := s.indexOf(pod)
		if !ok || kept[index] {
			rest = append(rest, pod)
		}
		kept[index] = kept[index] || ok
	}
	return rest
}
