// Package cronjob creates the Jobs of CronJobs, as kube-controller-manager's cronjob-controller
// does.
package cronjob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/job"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

const controllerName = "cronjob-controller"

type controller struct {
	cronJobs reconcile.Objects[*batchv1.CronJob]
	jobs     reconcile.Objects[*batchv1.Job]
	recorder reconcile.Recorder
}

func cronJobKind() schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind("CronJob") }

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &controller{
		cronJobs: reconcile.Objects[*batchv1.CronJob]{Catalog: config.Catalog, Resource: batchv1.Resource("cronjobs")},
		jobs:     reconcile.Objects[*batchv1.Job]{Catalog: config.Catalog, Resource: batchv1.Resource("jobs")},
		recorder: reconcile.Recorder{Catalog: config.Catalog, Component: controllerName, Logger: config.Logger},
	}
	return reconcile.New(config, reconcile.Spec[*batchv1.CronJob]{
		Name: controllerName, Account: controllerName, Objects: c.cronJobs,
		Kind: cronJobKind().GroupKind(), Dependents: []schema.GroupResource{c.jobs.Resource},
		Reconcile: c.reconcile,
	})
}

// pass is one reconciliation of a CronJob.
type pass struct {
	*controller
	cronJob *batchv1.CronJob // with the new status
	owner   reconcile.Owner
	jobs    []*batchv1.Job
	now     time.Time
}

func (c *controller) reconcile(ctx context.Context, cronJob *batchv1.CronJob) (time.Duration, error) {
	controlled, err := c.jobs.Controlled(ctx, cronJob)
	if err != nil {
		return 0, err
	}
	p := &pass{controller: c, cronJob: cronJob.DeepCopy(), owner: c.cronJobs.Owner(cronJob, cronJobKind()), jobs: controlled, now: registry.Now(ctx)}
	p.trackJobs(ctx)
	cleanupErr := p.cleanup(ctx)
	var again time.Duration
	var scheduleErr error
	if cronJob.DeletionTimestamp == nil && (cronJob.Spec.Suspend == nil || !*cronJob.Spec.Suspend) {
		again, scheduleErr = p.schedule(ctx)
	}
	_, err = c.cronJobs.PutStatus(ctx, cronJob, p.cronJob)
	return again, errors.Join(err, cleanupErr, scheduleErr)
}

func (p *pass) event(ctx context.Context, reason, format string, args ...any) {
	p.recorder.Normal(ctx, p.owner.ObjectReference(), reason, fmt.Sprintf(format, args...))
}

func (p *pass) warn(ctx context.Context, reason, format string, args ...any) {
	p.recorder.Warn(ctx, p.owner.ObjectReference(), reason, fmt.Sprintf(format, args...))
}

// trackJobs removes finished and missing Jobs from the list of active ones, and records the last
// success.
func (p *pass) trackJobs(ctx context.Context) {
	status := &p.cronJob.Status
	exists := map[string]bool{}
	for _, j := range p.jobs {
		exists[string(j.UID)] = true
		end := job.Finished(j)
		switch listed := p.isActive(j); {
		case end != nil && listed:
			p.removeActive(string(j.UID))
			p.event(ctx, "SawCompletedJob", "Saw completed job: %s, condition: %v", j.Name, end.Type)
		case end == nil && !listed:
			p.warn(ctx, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", j.Name)
		}
		if completed := j.Status.CompletionTime; completed != nil && (status.LastSuccessfulTime == nil || status.LastSuccessfulTime.Before(completed)) {
			status.LastSuccessfulTime = completed.DeepCopy()
		}
	}
	for _, ref := range slices.Clone(status.Active) {
		if !exists[string(ref.UID)] {
			p.event(ctx, "MissingJob", "Active job went missing: %v", ref.Name)
			p.removeActive(string(ref.UID))
		}
	}
}

func (p *pass) isActive(j *batchv1.Job) bool {
	return slices.ContainsFunc(p.cronJob.Status.Active, func(ref corev1.ObjectReference) bool { return ref.UID == j.UID })
}

func (p *pass) removeActive(uid string) {
	status := &p.cronJob.Status
	status.Active = slices.DeleteFunc(status.Active, func(ref corev1.ObjectReference) bool { return string(ref.UID) == uid })
}

func (p *pass) addActive(j *batchv1.Job) {
	if p.isActive(j) {
		return
	}
	apiVersion, kind := batchv1.SchemeGroupVersion.WithKind("Job").ToAPIVersionAndKind()
	p.cronJob.Status.Active = append(p.cronJob.Status.Active, corev1.ObjectReference{
		APIVersion: apiVersion, Kind: kind, Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: j.ResourceVersion,
	})
}

// cleanup deletes the oldest finished Jobs beyond the limits of the history.
func (p *pass) cleanup(ctx context.Context) error {
	var errs []error
	for kind, limit := range map[batchv1.JobConditionType]*int32{
		batchv1.JobComplete: p.cronJob.Spec.SuccessfulJobsHistoryLimit, batchv1.JobFailed: p.cronJob.Spec.FailedJobsHistoryLimit,
	} {
		if limit == nil {
			continue
		}
		var history []*batchv1.Job
		for _, j := range p.jobs {
			if end := job.Finished(j); end != nil && end.Type == kind && j.DeletionTimestamp == nil {
				history = append(history, j)
			}
		}
		slices.SortFunc(history, compareStarts)
		for _, j := range history[:max(0, len(history)-int(*limit))] {
			errs = append(errs, p.delete(ctx, j))
		}
	}
	return errors.Join(errs...)
}

func compareStarts(a, b *batchv1.Job) int {
	return startOf(a).Compare(startOf(b).Time)
}

func startOf(j *batchv1.Job) metav1.Time {
	if j.Status.StartTime != nil {
		return *j.Status.StartTime
	}
	return j.CreationTimestamp
}

func (p *pass) delete(ctx context.Context, j *batchv1.Job) error {
	if err := p.controller.jobs.Delete(ctx, j); err != nil {
		p.warn(ctx, "FailedDelete", "Deleted job: %v", err)
		return err
	}
	p.removeActive(string(j.UID))
	p.event(ctx, "SuccessfulDelete", "Deleted job %v", j.Name)
	return nil
}
