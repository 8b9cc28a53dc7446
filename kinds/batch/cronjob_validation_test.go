package batch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newCronJob() *batchv1.CronJob {
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{
		Schedule:    "*/5 * * * *",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: podsOnce()}},
	}}
	defaultCronJob(c)
	return c
}

func TestCronJobs(t *testing.T) {
	schedule := func(text string) func(*batchv1.CronJob) { return func(c *batchv1.CronJob) { c.Spec.Schedule = text } }
	zone := func(name string) func(*batchv1.CronJob) {
		return func(c *batchv1.CronJob) { c.Spec.TimeZone = new(name) }
	}
	const at = "spec.schedule: Invalid value: "
	check := registrytest.Rules(t, newCronJob, func(c *batchv1.CronJob) field.ErrorList { return validateNewCronJob(c, feature.Default()) })
	check("a descriptor", schedule("@hourly"))
	check("a schedule has five fields", schedule("* * * *"), at+`"* * * *": expected exactly 5 fields, found 4: [* * * *]`)
	check("values are in range", schedule("61 * * * *"), at+`"61 * * * *": end of range (61) above maximum (59): 61`)
	check("descriptors are known", schedule("@never"), at+`"@never": unrecognized descriptor: @never`)
	check("a prefix that makes the parser panic", schedule("TZ=0"),
		at+`"TZ=0": invalid schedule format: runtime error: slice bounds out of range [:-1]`,
		at+`"TZ=0": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`)
	check("a time zone in the schedule is rejected", schedule("CRON_TZ=UTC 0 0 * * *"),
		at+`"CRON_TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`)
	check("a time zone", zone("UTC"))
	check("time zones are known", zone("Mars/Olympus"), `spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus`)
	check("the time zone Local is rejected", zone("Local"),
		`spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`)
	check("a path is not a time zone", zone("../UTC"), `spec.timeZone: Invalid value: "../UTC": unknown time zone ../UTC`)
	check("an empty spec", func(c *batchv1.CronJob) { c.Spec = batchv1.CronJobSpec{}; defaultCronJob(c) },
		"spec.schedule: Required value",
		"spec.jobTemplate.spec.template.spec.containers: Required value",
		`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`)
	check("the name has a maximum length", func(c *batchv1.CronJob) { c.Name = "a123456789b123456789c123456789d123456789e123456789f12" },
		`metadata.name: Invalid value: "a123456789b123456789c123456789d123456789e123456789f12": must be no more than 52 characters`)
	check("the restart policy is Never or OnFailure", func(c *batchv1.CronJob) {
		c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}, `spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`)
	check("the job template has no selector", func(c *batchv1.CronJob) { c.Spec.JobTemplate.Spec.Selector = &metav1.LabelSelector{} },
		"spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated")
}

func TestScheduleKeepsItsTimeZone(t *testing.T) {
	old := newCronJob()
	old.Spec.Schedule = "TZ=UTC 0 0 * * *"
	c := old.DeepCopy()
	if got := registrytest.Texts(validateCronJob(c, old, feature.Default())); got != nil {
		t.Errorf("an update that leaves it: %q", got)
	}
	if got := warningsForChangedCronJob(c, old); len(got) != 1 {
		t.Errorf("warnings %q", got)
	}
	c.Spec.TimeZone = new("UTC")
	want := []string{`spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule`}
	if diff := cmp.Diff(want, registrytest.Texts(validateCronJob(c, old, feature.Default()))); diff != "" {
		t.Errorf("one more (-want +got):\n%s", diff)
	}
}
