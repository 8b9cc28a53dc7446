package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/controllers/pods"
)

// state is a Job and its pods during a reconciliation.
type state struct {
	// job has the new status.
	job  *batchv1.Job
	pods []*corev1.Pod
	now  time.Time

	active      []*corev1.Pod
	terminating int
	// counted are pods that the new status counts, and that still have the finalizer.
	counted []*corev1.Pod
	// completed and failedIndexes are the indexes of an Indexed Job that have succeeded and failed.
	completed, failedIndexes indexes
	// suspended is the reason of the Event if the reconciliation suspended or resumed the Job.
	suspended string
}

func newState(job *batchv1.Job, controlled []*corev1.Pod, now time.Time) *state {
	s := &state{job: job.DeepCopy(), pods: controlled, now: now, completed: indexes{}, failedIndexes: indexes{}}
	for _, pod := range controlled {
		switch {
		case pods.IsActive(pod):
			s.active = append(s.active, pod)
		case pods.IsTerminating(pod):
			s.terminating++
		}
	}
	status := &s.job.Status
	if status.UncountedTerminatedPods == nil {
		status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	if status.StartTime == nil && !s.isSuspended() {
		status.StartTime = new(metav1.NewTime(now))
	}
	if s.isIndexed() {
		s.completed = parseIndexes(status.CompletedIndexes)
		if status.FailedIndexes != nil {
			s.failedIndexes = parseIndexes(*status.FailedIndexes)
		}
	}
	s.count()
	return s
}

// count moves the UIDs of pods without the finalizer into the counters, and records the pods that
// have ended.
func (s *state) count() {
	status, uncounted := &s.job.Status, s.job.Status.UncountedTerminatedPods
	tracked := map[types.UID]bool{}
	for _, pod := range s.pods {
		tracked[pod.UID] = isTracked(pod)
	}
	move := func(uids *[]types.UID, counter *int32) {
		before := len(*uids)
		*uids = slices.DeleteFunc(*uids, func(uid types.UID) bool { return !tracked[uid] })
		*counter += int32(before - len(*uids))
	}
	move(&uncounted.Succeeded, &status.Succeeded)
	move(&uncounted.Failed, &status.Failed)
	for _, pod := range s.pods {
		if tracked[pod.UID] {
			s.record(pod)
		}
	}
	if s.isIndexed() {
		status.Succeeded = int32(len(s.completed))
		status.CompletedIndexes = s.completed.String()
		if s.job.Spec.BackoffLimitPerIndex != nil {
			status.FailedIndexes = new(s.failedIndexes.String())
		}
	}
}

// outcome is the result of a pod.
type outcome int

const (
	unfinished outcome = iota
	succeeded
	failed
	ignored // the pod has ended and does not count
)

// outcome returns the result of a pod. When the Job is ending, a pod that is being deleted has
// failed, or does not count if the Job completes.
func (s *state) outcome(pod *corev1.Pod) outcome {
	ending := s.ending()
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return succeeded
	case pod.Status.Phase == corev1.PodFailed:
	case ending != nil && pod.DeletionTimestamp != nil && ending.Type == batchv1.JobSuccessCriteriaMet:
		return ignored
	case ending != nil && pod.DeletionTimestamp != nil, s.isFailed(pod):
	case s.job.DeletionTimestamp != nil:
		return ignored
	default:
		return unfinished
	}
	if rule, _ := matchFailurePolicy(s.job.Spec.PodFailurePolicy, pod); rule == batchv1.PodFailurePolicyActionIgnore {
		return ignored
	}
	return failed
}

// isFailed reports whether a pod counts as failed. Pods that are being deleted do, unless only
// failed pods are replaced.
func (s *state) isFailed(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed ||
		!s.replacesFailedOnly() && pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded
}

// record records the outcome of a pod that has the finalizer.
func (s *state) record(pod *corev1.Pod) {
	uncounted := s.job.Status.UncountedTerminatedPods
	result := s.outcome(pod)
	if result == unfinished {
		return
	}
	s.counted = append(s.counted, pod)
	index, indexed := s.indexOf(pod)
	switch {
	case result == ignored, s.isIndexed() && !indexed, slices.Contains(uncounted.Failed, pod.UID):
	case result == succeeded && s.isIndexed():
		s.completed[index] = true
	case result == succeeded:
		uncounted.Succeeded = appendNew(uncounted.Succeeded, pod.UID)
	default:
		uncounted.Failed = append(uncounted.Failed, pod.UID)
		if s.indexHasFailed(pod) {
			s.failedIndexes[index] = true
		}
	}
}

func appendNew(list []types.UID, uid types.UID) []types.UID {
	if slices.Contains(list, uid) {
		return list
	}
	return append(list, uid)
}

// succeeded and failed return the numbers of all pods with these outcomes.
func (s *state) succeeded() int {
	return int(s.job.Status.Succeeded) + len(s.job.Status.UncountedTerminatedPods.Succeeded)
}

func (s *state) failed() int {
	return int(s.job.Status.Failed) + len(s.job.Status.UncountedTerminatedPods.Failed)
}

func (s *state) isIndexed() bool {
	mode := s.job.Spec.CompletionMode
	return mode != nil && *mode == batchv1.IndexedCompletion
}

func (s *state) isSuspended() bool { return s.job.Spec.Suspend != nil && *s.job.Spec.Suspend }

func (s *state) replacesFailedOnly() bool {
	policy := s.job.Spec.PodReplacementPolicy
	return policy != nil && *policy == batchv1.Failed
}

// setCounts sets the numbers of pods in the status.
func (s *state) setCounts() {
	var ready int32
	for _, pod := range s.active {
		if pods.IsReady(pod) {
			ready++
		}
	}
	status := &s.job.Status
	status.Active, status.Ready, status.Terminating = int32(len(s.active)), &ready, new(int32(s.terminating))
}
