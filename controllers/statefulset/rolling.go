package statefulset

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// partition returns the number of replicas that keep their revision in a rolling update.
func (r *rollout) partition() int {
	if rolling := r.set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		return int(*rolling.Partition)
	}
	return 0
}

// maxUnavailable returns the number of pods that may be unavailable in a rolling update.
func (r *rollout) maxUnavailable() (int, error) {
	limit := intstr.FromInt32(1)
	if rolling := r.set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.MaxUnavailable != nil {
		limit = *rolling.MaxUnavailable
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&limit, int(*r.set.Spec.Replicas), false)
	return max(1, n), err
}

// replaceOld deletes pods of older revisions, the highest ordinal first, as far as
// maxUnavailable allows. With the policy Parallel, pods that are not available are deleted without
// a limit.
func (r *rollout) replaceOld(ctx context.Context, replicas []*corev1.Pod) error {
	budget, err := r.maxUnavailable()
	if err != nil {
		return err
	}
	for _, pod := range replicas {
		if !r.isAvailable(pod) {
			budget--
		}
	}
	old := r.old(replicas)
	for _, pod := range old {
		switch available := r.isAvailable(pod); {
		case !available && !r.isParallel(), available && budget <= 0:
			continue
		case available:
			budget--
		}
		if err := r.delete(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// old returns the replicas to update from the partition on, the highest ordinal first.
func (r *rollout) old(replicas []*corev1.Pod) []*corev1.Pod {
	var old []*corev1.Pod
	for _, pod := range slices.Backward(replicas[min(r.partition(), len(replicas)):]) {
		if pod.UID != "" && revisionOf(pod) != r.update.Name && pod.DeletionTimestamp == nil {
			old = append(old, pod)
		}
	}
	return old
}
