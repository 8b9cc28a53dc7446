package batch

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultJob sets one completion and one parallel pod if both are unset.
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

// backoffLimit returns the default limit: none for a job with limits per index.
func backoffLimit(spec *batchv1.JobSpec) int32 {
	if spec.BackoffLimitPerIndex != nil {
		return math.MaxInt32
	}
	return 6
}

// replacementPolicy returns Failed for a job with a pod failure policy, else TerminatingOrFailed.
func replacementPolicy(spec *batchv1.JobSpec) batchv1.PodReplacementPolicy {
	if spec.PodFailurePolicy != nil {
		return batchv1.Failed
	}
	return batchv1.TerminatingOrFailed
}

// labelLikePods gives a job without labels those of its template. The map is shared, so that the
// labels by which the job selects its pods become labels of the job too.
func labelLikePods(j *batchv1.Job) {
	if len(j.Labels) == 0 && j.Spec.Template.Labels != nil {
		j.Labels = j.Spec.Template.Labels
	}
}

// defaultJobPods sets the defaults of the job template of a CronJob.
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
