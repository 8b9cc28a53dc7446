package batch

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warnOfNewJob(j *batchv1.Job) []string {
	return append(kind.WarnOfName(j.Name), warnOfManyIndexes(&j.Spec, field.NewPath("spec"))...)
}

func warnOfChangedJob(j, old *batchv1.Job) []string {
	if j.Generation == old.Generation {
		return nil
	}
	return warnOfManyIndexes(&j.Spec, field.NewPath("spec"))
}

func warnOfNewCronJob(c *batchv1.CronJob) []string {
	return append(kind.WarnOfName(c.Name), warnOfManyIndexes(&c.Spec.JobTemplate.Spec, field.NewPath("spec", "jobTemplate", "spec"))...)
}

// warnOfChangedCronJob names the schedule by a path which it does not have, for
// kube-apiserver does.
func warnOfChangedCronJob(c, old *batchv1.CronJob) []string {
	var warnings []string
	if c.Generation != old.Generation {
		warnings = warnOfManyIndexes(&c.Spec.JobTemplate.Spec, field.NewPath("spec", "jobTemplate", "spec"))
	}
	if strings.Contains(c.Spec.Schedule, "TZ") {
		warnings = append(warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return warnings
}

func warnOfManyIndexes(spec *batchv1.JobSpec, at *field.Path) []string {
	if !isIndexed(spec) || spec.Completions == nil || *spec.Completions <= manyCompletions ||
		spec.Parallelism == nil || *spec.Parallelism <= mostParallelOfMany {
		return nil
	}
	return []string{at.String() + ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, " +
		"Kubernetes might not be able to track completedIndexes when a big number of indexes fail"}
}
