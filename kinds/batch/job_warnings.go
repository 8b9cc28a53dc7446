package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func warningsForNewJob(j *batchv1.Job) []string {
	return append(kind.WarningsForName(j.Name), warningsForJob(j)...)
}

func warningsForJob(j *batchv1.Job) []string {
	return warningsForJobSpec(&j.Spec, field.NewPath("spec"))
}

func warningsForJobTemplate(c *batchv1.CronJob) []string {
	return warningsForJobSpec(&c.Spec.JobTemplate.Spec, field.NewPath("spec", "jobTemplate", "spec"))
}

func warningsForJobSpec(spec *batchv1.JobSpec, at *field.Path) []string {
	return append(warningsForManyIndexes(spec, at), podspec.TemplateWarnings(&spec.Template, at.Child("template"))...)
}

func warningsForManyIndexes(spec *batchv1.JobSpec, at *field.Path) []string {
	if !isIndexed(spec) || spec.Completions == nil || *spec.Completions <= manyCompletions ||
		spec.Parallelism == nil || *spec.Parallelism <= mostParallelOfMany {
		return nil
	}
	return []string{at.String() + ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, " +
		"Kubernetes might not be able to track completedIndexes when a big number of indexes fail"}
}
