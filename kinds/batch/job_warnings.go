package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func warnOfNewJob(j *batchv1.Job) []string {
	return append(kind.WarnOfName(j.Name), warnOfJob(j)...)
}

func warnOfJob(j *batchv1.Job) []string { return warnOfJobSpec(&j.Spec, field.NewPath("spec")) }

func warnOfJobTemplate(c *batchv1.CronJob) []string {
	return warnOfJobSpec(&c.Spec.JobTemplate.Spec, field.NewPath("spec", "jobTemplate", "spec"))
}

func warnOfJobSpec(spec *batchv1.JobSpec, at *field.Path) []string {
	return append(warnOfManyIndexes(spec, at), podspec.TemplateWarnings(&spec.Template, at.Child("template"))...)
}

func warnOfManyIndexes(spec *batchv1.JobSpec, at *field.Path) []string {
	if !isIndexed(spec) || spec.Completions == nil || *spec.Completions <= manyCompletions ||
		spec.Parallelism == nil || *spec.Parallelism <= mostParallelOfMany {
		return nil
	}
	return []string{at.String() + ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, " +
		"Kubernetes might not be able to track completedIndexes when a big number of indexes fail"}
}
