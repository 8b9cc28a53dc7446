package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

func cronJobs() miniapi.Config {
	return miniapi.Config{Controllers: []string{"*", "job", "cronjob"}, Pods: miniapi.PodsInstant}
}

// runEveryMinute creates a CronJob that ran some time ago for the last time.
func (e *env) runEveryMinute(ago time.Duration, edits ...func(*batchv1.CronJob)) *batchv1.CronJob {
	e.Helper()
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{Schedule: "* * * * *"}}
	c.Spec.Suspend = new(true)
	c.Spec.JobTemplate.Spec = newJob("").Spec
	for _, edit := range edits {
		edit(c)
	}
	c, err := e.client.BatchV1().CronJobs("default").Create(e.Context(), c, metav1.CreateOptions{})
	e.check(err)
	return e.resume(c, ago)
}

// resume resumes a suspended CronJob that ran some time ago for the last time.
func (e *env) resume(c *batchv1.CronJob, ago time.Duration) *batchv1.CronJob {
	e.Helper()
	last := metav1.NewTime(time.Now().Add(-ago))
	e.await("the write of the status", func(ctx context.Context) bool { // the controller may write too
		var err error
		c, err = e.client.BatchV1().CronJobs("default").Get(ctx, "c", metav1.GetOptions{})
		e.check(err)
		c.Status.LastScheduleTime = &last
		c, err = e.client.BatchV1().CronJobs("default").UpdateStatus(ctx, c, metav1.UpdateOptions{})
		return err == nil
	})
	e.suspend(false)
	return c
}

// suspend suspends or resumes the CronJob, whatever the controller writes meanwhile.
func (e *env) suspend(suspended bool) {
	e.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspended)
	_, err := e.client.BatchV1().CronJobs("default").Patch(e.Context(), "c", types.MergePatchType, patch, metav1.PatchOptions{})
	e.check(err)
}

func (e *env) awaitCronJob(what string, done func(*batchv1.CronJob) bool) (c *batchv1.CronJob) {
	e.Helper()
	e.await("CronJob: "+what, func(ctx context.Context) bool {
		var err error
		c, err = e.client.BatchV1().CronJobs("default").Get(ctx, "c", metav1.GetOptions{})
		return err == nil && done(c)
	})
	return c
}

func (e *env) awaitReason(reason string) {
	e.Helper()
	e.await("an Event "+reason, func(ctx context.Context) bool {
		events, err := e.client.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=" + reason})
		return err == nil && len(events.Items) > 0
	})
}

func (e *env) listJobs() []batchv1.Job {
	e.Helper()
	list, err := e.client.BatchV1().Jobs("default").List(e.Context(), metav1.ListOptions{})
	e.check(err)
	return list.Items
}

func TestACronJobRunsItsLatestTime(t *testing.T) {
	e := start(t, cronJobs())
	began := time.Now()
	e.runEveryMinute(10 * time.Minute)
	c := e.awaitCronJob("a success", func(c *batchv1.CronJob) bool { return c.Status.LastSuccessfulTime != nil && len(c.Status.Active) == 0 })
	if last := c.Status.LastScheduleTime; last.Time.Before(began.Add(-time.Minute)) {
		t.Errorf("scheduled at %v, and not at the latest time before %v", last, began)
	}
	for _, j := range e.listJobs() {
		if !metav1.IsControlledBy(&j, c) || j.Annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] == "" {
			t.Errorf("Job %+v", j.ObjectMeta)
		}
	}
	e.awaitReason("SuccessfulCreate")
	e.awaitReason("SawCompletedJob")
}

func TestASuspendedCronJobDoesNotRun(t *testing.T) {
	e := start(t, cronJobs())
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{Schedule: "* * * * *", Suspend: new(true)}}
	c.Spec.JobTemplate.Spec = newJob("").Spec
	c, err := e.client.BatchV1().CronJobs("default").Create(t.Context(), c, metav1.CreateOptions{})
	e.check(err)
	c.Status.LastScheduleTime = new(metav1.NewTime(time.Now().Add(-time.Hour)))
	_, err = e.client.BatchV1().CronJobs("default").UpdateStatus(t.Context(), c, metav1.UpdateOptions{})
	e.check(err)
	e.createJob(newJob("other"))
	e.awaitEnd("other", batchv1.JobComplete)
	if list := e.listJobs(); len(list) != 1 {
		t.Errorf("%d Jobs", len(list))
	}
}

func runsForever(c *batchv1.CronJob) {
	c.Spec.JobTemplate.Spec.Template.Annotations = map[string]string{"miniapi.dev/exit-code": "none"}
}

// runTwice lets a CronJob with a concurrency policy run while its Job of an earlier time runs, and
// returns the UID of that Job.
func (e *env) runTwice(policy batchv1.ConcurrencyPolicy) types.UID {
	e.Helper()
	e.runEveryMinute(3*time.Minute, runsForever, func(c *batchv1.CronJob) { c.Spec.ConcurrencyPolicy = policy })
	c := e.awaitCronJob("a Job", func(c *batchv1.CronJob) bool { return len(c.Status.Active) == 1 })
	e.suspend(true)
	return c.Status.Active[0].UID
}

func TestConcurrencyForbidWaits(t *testing.T) {
	e := start(t, cronJobs())
	e.runTwice(batchv1.ForbidConcurrent)
	e.resume(nil, 3*time.Minute)
	e.awaitReason("JobAlreadyActive")
	if len(e.listJobs()) != 1 {
		t.Errorf("%d Jobs", len(e.listJobs()))
	}
}

func TestConcurrencyReplaceDeletesTheRunningJob(t *testing.T) {
	e := start(t, cronJobs())
	first := e.runTwice(batchv1.ReplaceConcurrent)
	e.resume(nil, 3*time.Minute)
	e.await("a new Job", func(context.Context) bool {
		list := e.listJobs()
		return len(list) == 1 && list[0].UID != first
	})
}

func TestATimeBeforeTheStartingDeadlineIsMissed(t *testing.T) {
	e := start(t, cronJobs())
	e.runEveryMinute(3*24*time.Hour, func(c *batchv1.CronJob) {
		// Once a day, half a day ago: the deadline has passed.
		c.Spec.Schedule, c.Spec.StartingDeadlineSeconds = time.Now().UTC().Add(-12*time.Hour).Format("4 15")+" * * *", new(int64(60))
		c.Spec.TimeZone = new("Etc/UTC")
	})
	e.createJob(newJob("other"))
	e.awaitEnd("other", batchv1.JobComplete)
	if list := e.listJobs(); len(list) != 1 {
		t.Errorf("%d Jobs", len(list))
	}
}

// The schedule is evaluated in the time zone of the CronJob.
func TestACronJobHasATimeZone(t *testing.T) {
	e := start(t, cronJobs())
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	e.check(err)
	due := time.Now().In(tokyo).Add(-time.Hour).Truncate(time.Minute)
	e.runEveryMinute(2*time.Hour, func(c *batchv1.CronJob) {
		c.Spec.Schedule, c.Spec.TimeZone = due.Format("4 15")+" * * *", new("Asia/Tokyo")
	})
	c := e.awaitCronJob("a success", func(c *batchv1.CronJob) bool { return c.Status.LastSuccessfulTime != nil })
	if !c.Status.LastScheduleTime.Time.Equal(due) {
		t.Errorf("scheduled at %v, want %v", c.Status.LastScheduleTime, due)
	}
	if at := e.listJobs()[0].Annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"]; at != due.Format(time.RFC3339) {
		t.Errorf("annotation %s", at)
	}
}

func TestTheHistoryOfACronJobIsLimited(t *testing.T) {
	e := start(t, cronJobs())
	c := e.runEveryMinute(0, func(c *batchv1.CronJob) {
		c.Spec.Schedule = "0 0 1 1 *"
		c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = new(int32(1)), new(int32(0))
	})
	owner := *metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))
	owned := func(j *batchv1.Job) { j.OwnerReferences = []metav1.OwnerReference{owner} }
	for _, name := range []string{"a", "b"} {
		e.createJob(newJob(name, owned))
		e.awaitJob(name, "finished or deleted", func(j *batchv1.Job) bool { return j.Status.CompletionTime != nil })
	}
	e.createJob(newJob("failing", owned, exitsWith("1"), backoffLimit(0)))
	e.await("the end of old Jobs", func(context.Context) bool {
		var names []string
		for _, j := range e.listJobs() {
			names = append(names, j.Name)
		}
		return len(names) == 1 && !slices.Contains(names, "failing")
	})
}
