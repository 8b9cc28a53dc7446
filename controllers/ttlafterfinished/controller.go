// Package ttlafterfinished deletes finished Jobs ttlSecondsAfterFinished after their end, as
// kube-controller-manager's ttl-after-finished-controller does.
package ttlafterfinished

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/miniapi/miniapi/controllers/job"
	"github.com/miniapi/miniapi/controllers/reconcile"
)

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	jobs := reconcile.Objects[*batchv1.Job]{Catalog: config.Catalog, Resource: batchv1.Resource("jobs")}
	return reconcile.New(config, reconcile.Spec[*batchv1.Job]{
		Name:    "ttl-after-finished-controller",
		Account: "ttl-after-finished-controller",
		Objects: jobs,
		Reconcile: func(ctx context.Context, j *batchv1.Job) (time.Duration, error) {
			left, limited := timeToLive(j, config.Clock.Now())
			if !limited || left > 0 {
				return left, nil
			}
			return 0, jobs.DeleteUnchanged(ctx, j)
		},
	})
}

// timeToLive returns the time until a Job expires, and false if it does not expire.
func timeToLive(j *batchv1.Job, now time.Time) (left time.Duration, limited bool) {
	end := job.Finished(j)
	if end == nil || j.Spec.TTLSecondsAfterFinished == nil || j.DeletionTimestamp != nil {
		return 0, false
	}
	return end.LastTransitionTime.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second).Sub(now), true
}
