package batch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestJobStatus(t *testing.T) {
	start := metav1.NewTime(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))
	end := metav1.NewTime(start.Add(time.Minute))
	set := func(j *batchv1.Job, types ...batchv1.JobConditionType) {
		j.Status.Conditions = nil
		for _, typ := range types {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: typ, Status: corev1.ConditionTrue})
		}
	}
	begin := func(j *batchv1.Job) { j.Status.StartTime, j.Status.Active, j.Status.Failed = &start, 1, 1 }
	complete := func(j *batchv1.Job) {
		begin(j)
		j.Status.Active, j.Status.Succeeded, j.Status.CompletionTime = 0, 1, &end
		set(j, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	}
	fail := func(j *batchv1.Job) {
		begin(j)
		j.Status.Active = 0
		set(j, batchv1.JobFailureTarget, batchv1.JobFailed)
	}
	const conditions = "status.conditions: Invalid value: "
	for _, tc := range []struct {
		rule           string
		before, change func(*batchv1.Job)
		want           []string
	}{
		{"a job starts", func(*batchv1.Job) {}, begin, nil},
		{"a job completes", begin, complete, nil},
		{"a job fails", begin, fail, nil},
		{"JobComplete needs JobSuccessCriteriaMet", begin, func(j *batchv1.Job) { complete(j); set(j, batchv1.JobComplete) },
			[]string{conditions + "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"}},
		{"JobFailed needs JobFailureTarget", begin, func(j *batchv1.Job) { fail(j); set(j, batchv1.JobFailed) },
			[]string{conditions + "cannot set Failed=True condition without the FailureTarget=true condition"}},
		{"a finished job has no active pods", begin, func(j *batchv1.Job) { fail(j); j.Status.Active = 1 },
			[]string{"status.active: Invalid value: 1: active>0 is invalid for finished job"}},
		{"a complete job has a completion time", begin, func(j *batchv1.Job) { complete(j); j.Status.CompletionTime = nil },
			[]string{"status.completionTime: Required value: completionTime is required for Complete jobs"}},
		{"the completion time is not before the start time", begin, func(j *batchv1.Job) { complete(j); j.Status.CompletionTime = &metav1.Time{Time: start.Add(-time.Hour)} },
			[]string{`status.completionTime: Invalid value: "2020-01-02T02:04:05Z": must be equal to or after ` + "`startTime`"}},
		{"a final condition is immutable", complete, func(j *batchv1.Job) { set(j, batchv1.JobSuccessCriteriaMet) }, []string{
			`status.completionTime: Invalid value: "2020-01-02T03:05:05Z": cannot set completionTime when there is no Complete=True condition`,
			conditions + "cannot disable the terminal Complete=True condition",
		}},
		{"the number of failures does not decrease", begin, func(j *batchv1.Job) { j.Status.Failed = 0 },
			[]string{"status.failed: Invalid value: 0: cannot decrease the failed counter"}},
		{"completed indexes need completion mode Indexed", begin, func(j *batchv1.Job) { j.Status.CompletedIndexes = "0" },
			[]string{`status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode`}},
		{"ready pods are at most the active pods", begin, func(j *batchv1.Job) { j.Status.Ready = new(int32(2)) },
			[]string{"status.ready: Invalid value: 2: cannot set more ready pods than active"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			old := newJob()
			tc.before(old)
			j := old.DeepCopy()
			tc.change(j)
			if diff := cmp.Diff(tc.want, registrytest.Texts(validateJobStatus(j, old))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailedAndCompletedIndexesAreDisjoint(t *testing.T) {
	old := newIndexedJob()
	old.Spec.BackoffLimitPerIndex = new(int32(1))
	j := old.DeepCopy()
	j.Status.CompletedIndexes, j.Status.FailedIndexes = "0-1", new("1,3")
	want := []string{`status.failedIndexes: Invalid value: "1,3": failedIndexes and completedIndexes overlap at index: 1`}
	if diff := cmp.Diff(want, registrytest.Texts(validateJobStatus(j, old))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
