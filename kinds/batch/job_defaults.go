package batch

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultJob runs one pod to its end, unless the client says how many there
// are to be.
func defaultJob(j *batchv1.Job) {
	spec := &j.Spec
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	kind.SetDefaultPointer(&spec.Parallelism, 1)
	kind.SetDefaultPointer(&spec.BackoffLimit, backoffLimit(spec))
	kind.SetDefaultPointer(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	kind.SetDefaultPointer(&spec.Suspend, false)
	kind.SetDefaultPointer(&spec.ManualSelector, false)
	kind.SetDefaultPointer(&spec.PodReplacementPolicy, replacementPolicy(spec))
	labelLikePods(j)
	defaultJobPods(spec)
}

// backoffLimit of a job whose indexes have limits of their own is none.
func backoffLimit(spec *batchv1.JobSpec) int32 {
	if spec.BackoffLimitPerIndex != nil {
		return math.MaxInt32
	}
	return 6
}

// replacementPolicy waits for a pod to have failed where a policy decides by
// how it did.
func replacementPolicy(spec *batchv1.JobSpec) batchv1.PodReplacementPolicy {
	if spec.PodFailurePolicy != nil {
		return batchv1.Failed
	}
	return batchv1.TerminatingOrFailed
}

// labelLikePods gives a job without labels those of its pods: the same map, so
// that the labels which the job's pods are found by become the job's too.
func labelLikePods(j *batchv1.Job) {
	if len(j.Labels) == 0 && j.Spec.Template.Labels != nil {
		j.Labels = j.Spec.Template.Labels
	}
}

// defaultJobPods is what the jobs of a cron job are given ahead of their time.
func defaultJobPods(spec *batchv1.JobSpec) {
	podspec.DefaultTemplate(&spec.Template)
	if spec.PodFailurePolicy == nil {
		return
	}
	for _, rule := range spec.PodFailurePolicy.Rules {
		for i := range rule.OnPodConditions {
			kind.SetDefault(&rule.OnPodConditions[i].Status, corev1.ConditionTrue)
		}
	}
}
