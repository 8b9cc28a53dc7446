package batch

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func newJob() *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "u"}, Spec: batchv1.JobSpec{Template: podsOnce()}}
	defaultJob(j)
	selectOwnPods(j)
	return j
}

func TestJobUpdates(t *testing.T) {
	waiting := func(j *batchv1.Job) { j.Spec.Suspend = new(true) }
	for _, tc := range []struct {
		rule           string
		before, change func(*batchv1.Job)
		want           []string
	}{
		{"parallelism may change", nil, func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(3)) }, nil},
		{"completions may not", nil, func(j *batchv1.Job) { j.Spec.Completions = new(int32(3)) },
			[]string{"spec.completions: Invalid value: 3: field is immutable"}},
		{"where pods run may change while a job waits", waiting, func(j *batchv1.Job) {
			j.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"}
		}, nil},
		{"what pods are may not", waiting, func(j *batchv1.Job) { j.Spec.Template.Spec.Containers = nil },
			[]string{"spec.template.spec.containers: Required value", "spec.template: Invalid value"}},
		{"the selector is fixed", nil, func(j *batchv1.Job) { j.Spec.Selector = nil }, []string{
			"spec.selector: Invalid value: null: field is immutable",
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"u\",\"batch.kubernetes.io/job-name\":\"j\"," +
				"\"controller-uid\":\"u\",\"job-name\":\"j\"}: `selector` does not match template `labels`",
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			old := newJob()
			if tc.before != nil {
				tc.before(old)
			}
			j := old.DeepCopy()
			tc.change(j)
			got := registrytest.Texts(validateJobUpdate(j, old))
			got = slices.Compact(slices.Sorted(slices.Values(got)))
			for i := range got {
				if len(got[i]) > 500 { // a template in full
					got[i] = got[i][:len("spec.template: Invalid value")]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCronJobs(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		change func(*batchv1.CronJob)
		want   []string
	}{
		{"five fields are a schedule", func(*batchv1.CronJob) {}, nil},
		{"and so is a name for them", func(c *batchv1.CronJob) { c.Spec.Schedule = "@hourly" }, nil},
		{"four are not", func(c *batchv1.CronJob) { c.Spec.Schedule = "* * * *" },
			[]string{`spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]`}},
		{"an empty spec lacks three things", func(c *batchv1.CronJob) { c.Spec = batchv1.CronJobSpec{} }, []string{
			"spec.schedule: Required value",
			"spec.jobTemplate.spec.template.spec.containers: Required value",
			`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`,
		}},
		{"a name leaves room for those of jobs", func(c *batchv1.CronJob) { c.Name = "a123456789b123456789c123456789d123456789e123456789f12" },
			[]string{`metadata.name: Invalid value: "a123456789b123456789c123456789d123456789e123456789f12": must be no more than 52 characters`}},
		{"pods that run for ever are no job", func(c *batchv1.CronJob) {
			c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
		}, []string{`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{
				Schedule:    "*/5 * * * *",
				JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: podsOnce()}},
			}}
			tc.change(c)
			defaultCronJob(c)
			if diff := cmp.Diff(tc.want, registrytest.Texts(validateNewCronJob(c))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
