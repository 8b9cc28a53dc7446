package batch

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// podsOnce is a pod template that is valid in a job.
func podsOnce() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "c", Image: "i"}},
	}}
}

func TestJobSelectsItsOwnPods(t *testing.T) {
	e := registrytest.New(t, nil, jobs(feature.Default()))
	own := e.Create("jobs.batch", &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "own"},
		Spec:       batchv1.JobSpec{Template: podsOnce()},
	}).(*batchv1.Job)
	uid := string(own.UID)
	labels := map[string]string{
		"batch.kubernetes.io/controller-uid": uid, "controller-uid": uid,
		"batch.kubernetes.io/job-name": "own", "job-name": "own",
	}
	if diff := cmp.Diff(labels, own.Spec.Template.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	want := &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": uid}}
	if diff := cmp.Diff(want, own.Spec.Selector); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	template := podsOnce()
	template.Labels = map[string]string{"a": "b"}
	manual := e.Create("jobs.batch", &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "manual"},
		Spec: batchv1.JobSpec{
			ManualSelector: new(true),
			Selector:       &metav1.LabelSelector{MatchLabels: template.Labels},
			Template:       template,
		},
	}).(*batchv1.Job)
	if len(manual.Spec.Selector.MatchLabels) != 1 || len(manual.Spec.Template.Labels) != 1 {
		t.Errorf("a manual selector was filled in: %v, %v", manual.Spec.Selector, manual.Spec.Template.Labels)
	}
	_, err := e.Store("jobs.batch").Update(t.Context(), registry.UpdateRequest{
		Namespace: "x", Name: "own",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			job := current.DeepCopyObject().(*batchv1.Job)
			job.Spec.Selector = nil
			return job, nil
		},
	})
	if !apierrors.IsInvalid(err) {
		t.Errorf("without its selector: %v, want 422", err)
	}
}

func TestJobDeletionOrphansPodsWithWarning(t *testing.T) {
	for _, tc := range []struct {
		name              string
		options           metav1.DeleteOptions
		removed           bool
		warnings          int
		wantOrphanPending bool
	}{
		{"by default", metav1.DeleteOptions{}, false, 1, true},
		{"in the background", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}, true, 0, false},
		{"as orphans", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}, false, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := registrytest.New(t, nil, jobs(feature.Default()))
			e.Create("jobs.batch", &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "j"},
				Spec:       batchv1.JobSpec{Template: podsOnce()},
			})
			ctx, warnings := registry.WithWarnings(t.Context())
			result, err := e.Store("jobs.batch").Delete(ctx, registry.DeleteRequest{Namespace: "x", Name: "j", Options: &tc.options})
			if err != nil {
				t.Fatal(err)
			}
			orphan := len(registrytest.Meta(registrytest.Object(result.Entry)).GetFinalizers()) == 1
			if result.Removed != tc.removed || orphan != tc.wantOrphanPending || len(warnings.List()) != tc.warnings {
				t.Errorf("removed %v, orphaning %v, warnings %q", result.Removed, orphan, warnings.List())
			}
		})
	}
}

func TestJobCells(t *testing.T) {
	start := metav1.NewTime(time.Now().Add(-time.Minute))
	end := metav1.NewTime(start.Add(5 * time.Second))
	condition := func(typ batchv1.JobConditionType) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: typ, Status: corev1.ConditionTrue}}
	}
	for _, tc := range []struct {
		status, completions, duration string
		job                           batchv1.Job
	}{
		{"Complete", "2/2", "5s", batchv1.Job{
			Spec:   batchv1.JobSpec{Completions: new(int32(2))},
			Status: batchv1.JobStatus{Succeeded: 2, StartTime: &start, CompletionTime: &end, Conditions: condition(batchv1.JobComplete)},
		}},
		{"Failed", "0/1 of 3", "60s", batchv1.Job{
			Spec:   batchv1.JobSpec{Parallelism: new(int32(3))},
			Status: batchv1.JobStatus{StartTime: &start, Conditions: condition(batchv1.JobFailed)},
		}},
		{"Terminating", "0/1", "", batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &start},
			Status:     batchv1.JobStatus{Conditions: condition(batchv1.JobSuspended)},
		}},
		{"Suspended", "0/1", "", batchv1.Job{Status: batchv1.JobStatus{Conditions: condition(batchv1.JobSuspended)}}},
		{"FailureTarget", "0/1", "", batchv1.Job{Status: batchv1.JobStatus{Conditions: condition(batchv1.JobFailureTarget)}}},
		{"SuccessCriteriaMet", "0/1", "", batchv1.Job{Status: batchv1.JobStatus{Conditions: condition(batchv1.JobSuccessCriteriaMet)}}},
		{"Running", "0/1", "", batchv1.Job{}},
	} {
		cells := registrytest.Cells(jobs(feature.Default()), &tc.job)
		if cells[1] != tc.status || cells[2] != tc.completions || cells[3] != tc.duration {
			t.Errorf("got %v, want %s %s %s", cells[1:4], tc.status, tc.completions, tc.duration)
		}
	}
}
