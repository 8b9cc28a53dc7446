package job

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ending returns the condition of a Job that is going to fail or to complete, nil if it goes on.
func (s *state) ending() *batchv1.JobCondition {
	if c := trueCondition(s.job, batchv1.JobSuccessCriteriaMet); c != nil {
		return c
	}
	return trueCondition(s.job, batchv1.JobFailureTarget)
}

// decide adds the condition FailureTarget or SuccessCriteriaMet if a criterion is met. Otherwise it
// returns the time until the deadline, 0 if there is none.
func (s *state) decide() (untilDeadline time.Duration) {
	if s.ending() != nil {
		return 0
	}
	left, limited := s.untilDeadline()
	switch {
	case s.failByPolicy():
	case s.failed() > int(*s.job.Spec.BackoffLimit), s.exceedsRestarts():
		s.fail(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case limited && left <= 0:
		s.fail(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	case s.failByIndexes():
	case s.succeedByPolicy():
	case s.isComplete():
		s.succeed(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
	case limited:
		return left
	}
	return 0
}

func (s *state) fail(reason, message string) {
	s.setCondition(batchv1.JobFailureTarget, corev1.ConditionTrue, reason, message)
}

func (s *state) succeed(reason, message string) {
	s.setCondition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, reason, message)
}

// untilDeadline returns the time until activeDeadlineSeconds have passed.
func (s *state) untilDeadline() (left time.Duration, limited bool) {
	deadline, began := s.job.Spec.ActiveDeadlineSeconds, s.job.Status.StartTime
	if deadline == nil || began == nil || s.isSuspended() {
		return 0, false
	}
	return began.Add(time.Duration(*deadline) * time.Second).Sub(s.now), true
}

// exceedsRestarts reports whether the containers of the pods have been restarted too often.
func (s *state) exceedsRestarts() bool {
	if s.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	var restarts int32
	for _, pod := range s.pods {
		if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
			for i := range list {
				restarts += list[i].RestartCount
			}
		}
	}
	return restarts > 0 && restarts >= *s.job.Spec.BackoffLimit
}

// failByPolicy fails the Job if the pod failure policy says so.
func (s *state) failByPolicy() bool {
	for _, pod := range s.pods {
		if !s.isFailed(pod) {
			continue
		}
		if action, message := matchFailurePolicy(s.job.Spec.PodFailurePolicy, pod); action == batchv1.PodFailurePolicyActionFailJob {
			s.fail(batchv1.JobReasonPodFailurePolicy, message)
			return true
		}
	}
	return false
}

// failByIndexes fails the Job if too many indexes have failed, or if all indexes have ended.
func (s *state) failByIndexes() bool {
	failures, limit := len(s.failedIndexes), s.job.Spec.MaxFailedIndexes
	switch {
	case failures == 0:
		return false
	case limit != nil && failures > int(*limit):
		s.fail(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case failures+len(s.completed) >= int(*s.job.Spec.Completions):
		s.fail(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	default:
		return false
	}
	return true
}

// succeedByPolicy completes the Job if a rule of the success policy is met.
func (s *state) succeedByPolicy() bool {
	policy := s.job.Spec.SuccessPolicy
	if policy == nil {
		return false
	}
	for i, rule := range policy.Rules {
		if s.meets(rule) {
			s.succeed(batchv1.JobReasonSuccessPolicy, fmt.Sprintf("Matched rules at index %d", i))
			return true
		}
	}
	return false
}

func (s *state) meets(rule batchv1.SuccessPolicyRule) bool {
	reached := len(s.completed)
	if rule.SucceededIndexes != nil {
		required := parseIndexes(*rule.SucceededIndexes)
		reached = required.countIn(s.completed)
		if reached == len(required) {
			return reached > 0
		}
	}
	return rule.SucceededCount != nil && reached > 0 && reached >= int(*rule.SucceededCount)
}

// isComplete reports whether enough pods have succeeded and none is active.
func (s *state) isComplete() bool {
	if len(s.active) > 0 {
		return false
	}
	if completions := s.job.Spec.Completions; completions != nil {
		return s.succeeded() >= int(*completions)
	}
	return s.succeeded() > 0
}

// finish adds the condition Complete or Failed, and returns it, when the Job is ending, all pods
// are counted and none remains.
func (s *state) finish() *batchv1.JobCondition {
	ending, uncounted := s.ending(), s.job.Status.UncountedTerminatedPods
	if ending == nil || len(s.active)+s.terminating+len(s.counted)+len(uncounted.Succeeded)+len(uncounted.Failed) > 0 {
		return nil
	}
	kind := batchv1.JobFailed
	if ending.Type == batchv1.JobSuccessCriteriaMet {
		kind = batchv1.JobComplete
		s.job.Status.CompletionTime = new(metav1.NewTime(s.now))
	}
	s.setCondition(kind, corev1.ConditionTrue, ending.Reason, ending.Message)
	return trueCondition(s.job, kind)
}

// setCondition adds or replaces a condition, and reports whether it has changed. An absent
// condition counts as false.
func (s *state) setCondition(kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) bool {
	now := metav1.NewTime(s.now)
	next := batchv1.JobCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastProbeTime: now, LastTransitionTime: now,
	}
	switch c := findCondition(s.job, kind); {
	case c == nil && status == corev1.ConditionFalse:
		return false
	case c == nil:
		s.job.Status.Conditions = append(s.job.Status.Conditions, next)
	case c.Status == status && c.Reason == reason && c.Message == message:
		return false
	default:
		*c = next
	}
	return true
}
