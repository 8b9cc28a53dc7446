package batch

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultCronJob(c *batchv1.CronJob) {
	kind.SetDefault(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	kind.SetDefaultPointer(&c.Spec.Suspend, false)
	kind.SetDefaultPointer(&c.Spec.SuccessfulJobsHistoryLimit, 3)
	kind.SetDefaultPointer(&c.Spec.FailedJobsHistoryLimit, 1)
	defaultJobPods(&c.Spec.JobTemplate.Spec)
}
