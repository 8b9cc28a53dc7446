package batch

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
)

func TestTemplateWarningsOncePerGeneration(t *testing.T) {
	job, cronJob := &batchv1.Job{}, &batchv1.CronJob{}
	job.Name, cronJob.Name = "a", "a"
	job.Spec.Template = podsOnce()
	job.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(-1))
	cronJob.Spec.JobTemplate.Spec = *job.Spec.DeepCopy()
	raised, raisedCronJob := job.DeepCopy(), cronJob.DeepCopy()
	raised.Generation, raisedCronJob.Generation = 1, 1
	const gone = "template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
	type warn = func(ctx context.Context, obj, old runtime.Object) []string
	for _, tc := range []struct {
		about       string
		create      func(context.Context, runtime.Object) []string
		update      warn
		old, raised runtime.Object
		want        string
	}{
		{"Job", jobs(feature.Default()).Strategy.Create.Warnings, jobs(feature.Default()).Strategy.Update.Warnings, job, raised, "spec." + gone},
		{"CronJob", cronJobs(feature.Default()).Strategy.Create.Warnings, cronJobs(feature.Default()).Strategy.Update.Warnings, cronJob, raisedCronJob, "spec.jobTemplate.spec." + gone},
	} {
		t.Run(tc.about, func(t *testing.T) {
			for step, pair := range map[string]struct{ want, got []string }{
				"a create":            {[]string{tc.want}, tc.create(t.Context(), tc.old)},
				"the same generation": {nil, tc.update(t.Context(), tc.old, tc.old)},
				"the next generation": {[]string{tc.want}, tc.update(t.Context(), tc.raised, tc.old)},
			} {
				if diff := cmp.Diff(pair.want, pair.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", step, diff)
				}
			}
		})
	}
}
