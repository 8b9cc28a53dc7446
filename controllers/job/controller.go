package job

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

const controllerName = "job-controller"

// controller implements the reconciliation of Jobs.
type controller struct {
	jobs     reconcile.Objects[*batchv1.Job]
	pods     pods.Control
	recorder reconcile.Recorder
}

func jobKind() schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind("Job") }

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &controller{
		jobs:     reconcile.Objects[*batchv1.Job]{Catalog: config.Catalog, Resource: batchv1.Resource("jobs")},
		pods:     pods.NewControl(config, controllerName),
		recorder: reconcile.Recorder{Catalog: config.Catalog, Component: controllerName, Logger: config.Logger},
	}
	return reconcile.New(config, reconcile.Spec[*batchv1.Job]{
		Name: controllerName, Account: controllerName, Objects: c.jobs,
		Kind: jobKind().GroupKind(), Dependents: []schema.GroupResource{corev1.Resource("pods")},
		Reconcile: c.reconcile, Gone: c.releaseOrphans,
	})
}

// reconcile brings the pods and the status of a Job one step further.
func (c *controller) reconcile(ctx context.Context, job *batchv1.Job) (again time.Duration, err error) {
	if by := job.Spec.ManagedBy; by != nil && *by != batchv1.JobControllerName || Finished(job) != nil {
		return 0, nil
	}
	owner := c.jobs.Owner(job, jobKind())
	controlled, err := c.claim(ctx, owner, job)
	if err != nil {
		return 0, err
	}
	s := newState(job, controlled, registry.Now(ctx))
	again = s.decide()
	var manageErr error
	switch {
	case s.ending() != nil:
		manageErr = c.deletePods(ctx, owner, s, s.active)
	case job.DeletionTimestamp == nil:
		var wait time.Duration
		wait, manageErr = c.manage(ctx, owner, s)
		again = earlier(again, wait)
	}
	if err := c.writeStatus(ctx, owner, job, s); err != nil {
		return 0, errors.Join(err, manageErr)
	}
	return again, errors.Join(c.release(ctx, s.counted), manageErr)
}

// earlier returns the smaller one of two delays, where 0 is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// claim returns the pods of a Job. Active pods get the finalizer, which adopted ones lack. The pods
// of an earlier Job of the same name lose it.
func (c *controller) claim(ctx context.Context, owner reconcile.Owner, job *batchv1.Job) ([]*corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return nil, err
	}
	candidates, err := c.pods.List(ctx, job.Namespace, nil)
	if err != nil {
		return nil, err
	}
	if err := c.release(ctx, orphansOf(candidates, job.Name, job.UID)); err != nil {
		return nil, err
	}
	claimed, err := c.pods.Claim(ctx, owner, candidates, func(pod *corev1.Pod) bool {
		return selector.Matches(labels.Set(pod.Labels))
	})
	if err != nil {
		return nil, err
	}
	for i, pod := range claimed {
		if !pods.IsActive(pod) || isTracked(pod) || job.DeletionTimestamp != nil {
			continue
		}
		if claimed[i], err = c.pods.Update(ctx, pod, track); err != nil {
			return nil, err
		}
	}
	return claimed, nil
}

// writeStatus writes the status if it has changed, and the Event of the end. It returns a Conflict
// error if the Job has changed since it was read.
func (c *controller) writeStatus(ctx context.Context, owner reconcile.Owner, job *batchv1.Job, s *state) error {
	s.setCounts()
	end := s.finish()
	if _, err := c.jobs.PutStatus(ctx, job, s.job); err != nil {
		return err
	}
	about := owner.ObjectReference()
	switch {
	case s.suspended != "":
		c.recorder.Normal(ctx, about, s.suspended, "Job "+strings.ToLower(s.suspended))
	case end == nil:
	case end.Type == batchv1.JobComplete:
		c.recorder.Normal(ctx, about, "Completed", "Job completed")
	default:
		c.recorder.Warn(ctx, about, end.Reason, end.Message)
	}
	return nil
}

// release removes the finalizer from pods.
func (c *controller) release(ctx context.Context, counted []*corev1.Pod) error {
	return pods.InBatches(len(counted), func(i int) error {
		_, err := c.pods.Update(ctx, counted[i], untrack)
		return reconcile.IgnoreGone(err)
	})
}

// releaseOrphans removes the finalizer from the pods of a Job that is gone, and from the pods that
// it orphaned.
func (c *controller) releaseOrphans(ctx context.Context, namespace, name string) error {
	all, err := c.pods.List(ctx, namespace, nil)
	if err != nil {
		return err
	}
	orphans := orphansOf(all, name, "")
	for _, pod := range all {
		if isTracked(pod) && metav1.GetControllerOfNoCopy(pod) == nil {
			orphans = append(orphans, pod)
		}
	}
	return c.release(ctx, orphans)
}

// orphansOf returns the pods with the finalizer whose controller is a Job with a name and another
// UID.
func orphansOf(list []*corev1.Pod, name string, uid types.UID) []*corev1.Pod {
	var orphans []*corev1.Pod
	for _, pod := range list {
		owner := metav1.GetControllerOfNoCopy(pod)
		if isTracked(pod) && owner != nil && owner.Kind == jobKind().Kind && owner.Name == name && owner.UID != uid {
			orphans = append(orphans, pod)
		}
	}
	return orphans
}

func isTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

func track(pod *corev1.Pod) {
	if !isTracked(pod) && pod.DeletionTimestamp == nil {
		pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	}
}

func untrack(pod *corev1.Pod) {
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
}
