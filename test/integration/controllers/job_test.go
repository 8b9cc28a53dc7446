package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

func jobs() miniapi.Config {
	return miniapi.Config{Controllers: []string{"*", "job"}, Pods: miniapi.PodsInstant}
}

func (e *env) awaitJob(name, what string, done func(*batchv1.Job) bool) (j *batchv1.Job) {
	e.Helper()
	e.await("Job "+name+": "+what, func(ctx context.Context) bool {
		var err error
		j, err = e.client.BatchV1().Jobs("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && done(j)
	})
	return j
}

// awaitEnd waits until a Job has a condition, and returns the Job and "REASON: MESSAGE".
func (e *env) awaitEnd(name string, kind batchv1.JobConditionType) (*batchv1.Job, string) {
	e.Helper()
	text := ""
	j := e.awaitJob(name, string(kind), func(j *batchv1.Job) bool {
		for _, c := range j.Status.Conditions {
			if c.Type == kind && c.Status == corev1.ConditionTrue {
				text = c.Reason + ": " + c.Message
				return true
			}
		}
		return false
	})
	return j, text
}

func (e *env) podsOf(job string) []corev1.Pod {
	e.Helper()
	list, err := e.client.CoreV1().Pods("default").List(e.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
	e.check(err)
	return list.Items
}

func exitsWith(code string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		metav1.SetMetaDataAnnotation(&j.Spec.Template.ObjectMeta, "miniapi.dev/exit-code", code)
	}
}

func completions(n, parallelism int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &n, &parallelism }
}

func backoffLimit(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n }
}

func isIndexed(j *batchv1.Job) { j.Spec.CompletionMode = new(batchv1.IndexedCompletion) }

func runs(n int32) func(*batchv1.Job) bool {
	return func(j *batchv1.Job) bool {
		return j.Status.Active == n && j.Status.Ready != nil && *j.Status.Ready == n
	}
}

func TestAJobCompletes(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", completions(5, 2)))
	j, text := e.awaitEnd("j", batchv1.JobComplete)
	if text != "CompletionsReached: Reached expected number of succeeded pods" {
		t.Error(text)
	}
	if s := j.Status; s.Succeeded != 5 || s.Failed != 0 || s.Active != 0 || s.StartTime == nil || s.CompletionTime == nil {
		t.Errorf("status %+v", s)
	}
	all := e.podsOf("j")
	if len(all) != 5 {
		t.Errorf("%d pods", len(all))
	}
	for _, p := range all {
		if len(p.Finalizers) > 0 || p.GenerateName != "j-" {
			t.Errorf("pod %s of %s has finalizers %v", p.Name, p.GenerateName, p.Finalizers)
		}
	}
	e.await("Events", func(ctx context.Context) bool {
		events, err := e.client.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Job,reason=Completed"})
		return err == nil && len(events.Items) == 1
	})
}

func TestAJobWithoutCompletionsEndsWithItsPods(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(3)) }))
	if j, _ := e.awaitEnd("j", batchv1.JobComplete); j.Status.Succeeded != 3 {
		t.Errorf("status %+v", j.Status)
	}
}

func TestAJobFailsAtItsBackoffLimit(t *testing.T) {
	e := start(t, jobs())
	onFailure := func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }
	e.createJob(newJob("never", exitsWith("1"), backoffLimit(0)))
	e.createJob(newJob("on-failure", exitsWith("1"), backoffLimit(0), onFailure))
	for _, name := range []string{"never", "on-failure"} {
		j, text := e.awaitEnd(name, batchv1.JobFailed)
		if text != "BackoffLimitExceeded: Job has reached the specified backoff limit" || j.Status.Failed != 1 {
			t.Errorf("%s: %s, status %+v", name, text, j.Status)
		}
	}
}

func TestAJobRunsAtMostItsParallelism(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", exitsWith("none"), completions(10, 3)))
	e.awaitJob("j", "3 pods", runs(3))
	e.patchJob("j", `{"spec":{"parallelism":1}}`)
	j := e.awaitJob("j", "1 pod", runs(1))
	if j.Status.Failed != 0 { // the deleted pods are no failures
		t.Errorf("status %+v", j.Status)
	}
	e.await("one pod", func(context.Context) bool { return len(e.podsOf("j")) == 1 })
}

func (e *env) patchJob(name, patch string) {
	e.Helper()
	_, err := e.client.BatchV1().Jobs("default").Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}

func TestAJobExceedsItsDeadline(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", exitsWith("none"), func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(1)) }))
	if _, text := e.awaitEnd("j", batchv1.JobFailed); text != "DeadlineExceeded: Job was active longer than specified deadline" {
		t.Error(text)
	}
	e.await("no pods", func(context.Context) bool { return len(e.podsOf("j")) == 0 })
}

func TestAJobIsSuspendedAndResumed(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", exitsWith("none")))
	e.awaitJob("j", "a pod", runs(1))
	e.patchJob("j", `{"spec":{"suspend":true}}`)
	if _, text := e.awaitEnd("j", batchv1.JobSuspended); text != "JobSuspended: Job suspended" {
		t.Error(text)
	}
	j := e.awaitJob("j", "no pods", runs(0))
	e.await("no pods", func(context.Context) bool { return len(e.podsOf("j")) == 0 })
	if j.Status.Failed != 0 {
		t.Errorf("status %+v", j.Status)
	}
	e.patchJob("j", `{"spec":{"suspend":false}}`)
	j = e.awaitJob("j", "a pod", runs(1))
	if c := j.Status.Conditions[0]; c.Status != corev1.ConditionFalse || c.Reason != "JobResumed" {
		t.Errorf("condition %+v", c)
	}
}

func TestIndexedJobs(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", isIndexed, completions(4, 2)))
	j, _ := e.awaitEnd("j", batchv1.JobComplete)
	if j.Status.CompletedIndexes != "0-3" || j.Status.Succeeded != 4 {
		t.Errorf("status %+v", j.Status)
	}
	var seen []string
	for _, p := range e.podsOf("j") {
		index := p.Annotations["batch.kubernetes.io/job-completion-index"]
		seen = append(seen, index)
		env := p.Spec.Containers[0].Env
		if p.Spec.Hostname != "j-"+index || p.Labels["batch.kubernetes.io/job-completion-index"] != index || len(env) != 1 || env[0].Name != "JOB_COMPLETION_INDEX" {
			t.Errorf("pod %+v", p)
		}
	}
	slices.Sort(seen)
	if fmt.Sprint(seen) != "[0 1 2 3]" {
		t.Errorf("indexes %v", seen)
	}
}

func TestTheIndexesOfAJobFail(t *testing.T) {
	e := start(t, jobs())
	perIndex := func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = new(int32(0)) }
	e.createJob(newJob("all", isIndexed, completions(3, 3), exitsWith("1"), perIndex))
	e.createJob(newJob("some", isIndexed, completions(3, 1), exitsWith("1"), perIndex, func(j *batchv1.Job) { j.Spec.MaxFailedIndexes = new(int32(0)) }))
	j, text := e.awaitEnd("all", batchv1.JobFailed)
	if text != "FailedIndexes: Job has failed indexes" || *j.Status.FailedIndexes != "0-2" || j.Status.Failed != 3 {
		t.Errorf("%s, status %+v", text, j.Status)
	}
	if _, text := e.awaitEnd("some", batchv1.JobFailed); text != "MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes" {
		t.Error(text)
	}
}

func TestThePodFailurePolicy(t *testing.T) {
	e := start(t, jobs())
	policy := func(action batchv1.PodFailurePolicyAction) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:      action,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}},
			}}}
		}
	}
	e.createJob(newJob("fails", exitsWith("42"), policy(batchv1.PodFailurePolicyActionFailJob)))
	e.createJob(newJob("ignores", exitsWith("42"), backoffLimit(0), policy(batchv1.PodFailurePolicyActionIgnore)))
	j, text := e.awaitEnd("fails", batchv1.JobFailed)
	want := "PodFailurePolicy: Container c for pod default/" + e.podsOf("fails")[0].Name + " failed with exit code 42 matching FailJob rule at index 0"
	if text != want || j.Status.Failed != 1 {
		t.Errorf("%s, status %+v", text, j.Status)
	}
	e.awaitJob("ignores", "two pods", func(*batchv1.Job) bool { return len(e.podsOf("ignores")) > 1 })
}

func TestTheSuccessPolicy(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", isIndexed, completions(3, 3), exitsWith("none"), func(j *batchv1.Job) {
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("1")}}}
	}))
	e.awaitJob("j", "3 pods", runs(3))
	for _, p := range e.podsOf("j") {
		if p.Annotations["batch.kubernetes.io/job-completion-index"] == "1" {
			e.patchPod(p.Name, `{"metadata":{"annotations":{"miniapi.dev/exit-code":"0"}}}`)
		}
	}
	j, text := e.awaitEnd("j", batchv1.JobComplete)
	if text != "SuccessPolicy: Matched rules at index 0" || j.Status.CompletedIndexes != "1" {
		t.Errorf("%s, status %+v", text, j.Status)
	}
}

// The pods of a deleted Job are deleted, although they have its finalizer.
func TestADeletedJobReleasesItsPods(t *testing.T) {
	e := start(t, jobs())
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		e.createJob(newJob("j", exitsWith("none")))
		e.awaitJob("j", "a pod", runs(1))
		e.check(e.client.BatchV1().Jobs("default").Delete(t.Context(), "j", metav1.DeleteOptions{PropagationPolicy: &policy}))
		e.awaitJobGone("j")
		e.await("the end of the pods", func(context.Context) bool { return len(e.podsOf("j")) == 0 })
	}
}

func TestAnOrphanedPodLosesTheFinalizer(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", exitsWith("none")))
	e.awaitJob("j", "a pod", runs(1))
	policy := metav1.DeletePropagationOrphan
	e.check(e.client.BatchV1().Jobs("default").Delete(t.Context(), "j", metav1.DeleteOptions{PropagationPolicy: &policy}))
	e.await("the release of the pod", func(context.Context) bool {
		all := e.podsOf("j")
		return len(all) == 1 && len(all[0].Finalizers) == 0 && len(all[0].OwnerReferences) == 0
	})
}

// Without a kubelet a test writes the status of the pods.
func TestAJobOfManualPodsCompletes(t *testing.T) {
	config := jobs()
	config.Pods = miniapi.PodsManual
	e := start(t, config)
	e.createJob(newJob("j"))
	e.awaitJob("j", "a pod", func(j *batchv1.Job) bool { return j.Status.Active == 1 })
	e.patchPod(e.podsOf("j")[0].Name, `{"status":{"phase":"Succeeded"}}`, "status")
	e.awaitEnd("j", batchv1.JobComplete)
}

// A Job of 200 pods counts each of them once.
func TestALargeJobCountsEveryPod(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("j", completions(200, 50)))
	if j, _ := e.awaitEnd("j", batchv1.JobComplete); j.Status.Succeeded != 200 || len(e.podsOf("j")) != 200 {
		t.Errorf("status %+v", j.Status)
	}
}

func TestAJobOfAnotherControllerIsLeftAlone(t *testing.T) {
	e := start(t, jobs())
	e.createJob(newJob("other", func(j *batchv1.Job) { j.Spec.ManagedBy = new("example.com/c") }))
	e.createJob(newJob("ours"))
	e.awaitEnd("ours", batchv1.JobComplete)
	if all := e.podsOf("other"); len(all) > 0 {
		t.Errorf("%d pods", len(all))
	}
}
