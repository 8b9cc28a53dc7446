package statefulset

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/controllers/pods"
)

// step creates missing pods, then deletes superfluous ones, then replaces old ones. Unless the
// policy is Parallel, it ends at the first pod that has to become available or to end.
func (r *rollout) step(ctx context.Context) error {
	if r.set.DeletionTimestamp != nil {
		return nil
	}
	replicas, condemned, err := r.partitioned()
	if err != nil {
		return err
	}
	blocked, err := r.forEach(replicas, func(pod *corev1.Pod) (bool, error) { return r.ensure(ctx, pod) })
	if blocked || err != nil {
		return err
	}
	for _, pod := range condemned {
		if err := r.setClaimOwners(ctx, pod); err != nil {
			return err
		}
	}
	first := r.firstUnavailable(replicas, condemned)
	blocked, err = r.forEach(condemned, func(pod *corev1.Pod) (bool, error) { return r.remove(ctx, pod, pod == first) })
	if blocked || err != nil || r.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return err
	}
	return r.replaceOld(ctx, replicas)
}

// partitioned returns the pods of the replicas, new ones included, and the superfluous pods, the
// highest ordinal first.
func (r *rollout) partitioned() (replicas, condemned []*corev1.Pod, err error) {
	first, end := ordinals(r.set)
	replicas = make([]*corev1.Pod, end-first)
	for _, pod := range r.existing {
		if isMember(r.set, pod) {
			replicas[ordinal(r.set, pod)-first] = pod
		} else {
			condemned = append(condemned, pod)
		}
	}
	for i := range replicas {
		if replicas[i] == nil {
			if replicas[i], err = r.newPod(first + i); err != nil {
				return nil, nil, err
			}
		}
	}
	slices.Reverse(condemned)
	return replicas, condemned, nil
}

func (r *rollout) isParallel() bool {
	return r.set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

// forEach calls do with the pods, one after the other until one is blocked. With the policy
// Parallel it calls it with all pods, some at the same time.
func (r *rollout) forEach(list []*corev1.Pod, do func(*corev1.Pod) (blocked bool, err error)) (bool, error) {
	if r.isParallel() {
		err := pods.InBatches(len(list), func(i int) error {
			_, err := do(list[i])
			return err
		})
		return false, err
	}
	for _, pod := range list {
		if blocked, err := do(pod); blocked || err != nil {
			return true, err
		}
	}
	return false, nil
}

// ensure creates a pod with its claims, replaces it after its end, and reports whether it is not
// available yet.
func (r *rollout) ensure(ctx context.Context, pod *corev1.Pod) (blocked bool, err error) {
	switch {
	case pod.UID == "":
		return true, r.create(ctx, pod)
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		if pod.DeletionTimestamp != nil {
			return true, nil
		}
		return true, r.delete(ctx, pod)
	case pod.Status.Phase == corev1.PodPending:
		if err := r.createClaims(ctx, pod); err != nil {
			return true, err
		}
	}
	if !r.isParallel() && !(isReady(pod) && r.isAvailable(pod)) {
		return true, r.setClaimOwners(ctx, pod)
	}
	if _, err := r.pods.Update(ctx, pod, func(pod *corev1.Pod) { setIdentity(pod, ordinal(r.set, pod)) }); err != nil {
		return true, err
	}
	return false, r.setClaimOwners(ctx, pod)
}

// remove deletes a superfluous pod. In order, a pod that is not available blocks, unless it is the
// first such pod.
func (r *rollout) remove(ctx context.Context, pod *corev1.Pod, firstUnavailable bool) (blocked bool, err error) {
	if pod.DeletionTimestamp != nil {
		return true, nil
	}
	if !r.isParallel() && !(isReady(pod) && r.isAvailable(pod)) && !firstUnavailable {
		return true, nil
	}
	return true, r.delete(ctx, pod)
}

// firstUnavailable returns the first pod in the order of the ordinals that is not available, the
// replicas first.
func (r *rollout) firstUnavailable(replicas, condemned []*corev1.Pod) *corev1.Pod {
	all := slices.Clone(condemned)
	slices.Reverse(all)
	for _, pod := range slices.Concat(replicas, all) {
		if !r.isAvailable(pod) {
			return pod
		}
	}
	return nil
}
