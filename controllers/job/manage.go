package job

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
)

const (
	// maxCreations is the number of pods that a reconciliation creates at most.
	maxCreations = 500
	// minBackoff is the delay of the first replacement of a failed pod. It doubles with each
	// failure.
	minBackoff = 10 * time.Second
	maxBackoff = 10 * time.Minute
	// maxIndexPrefix leaves room for the random part of a generated name.
	maxIndexPrefix = 58
)

// manage creates or deletes pods, so that the wanted number is active. It returns the delay of a
// creation that waits.
func (c *controller) manage(ctx context.Context, owner reconcile.Owner, s *state) (wait time.Duration, err error) {
	if s.isSuspended() {
		s.suspend()
		return 0, c.dropPods(ctx, owner, s, s.active)
	}
	s.resume()
	var surplus []*corev1.Pod
	if s.isIndexed() {
		surplus = s.superfluous()
	}
	wanted := s.wantedActive()
	if more := len(s.active) - len(surplus) - wanted; more > 0 {
		rest := slices.DeleteFunc(slices.Clone(s.active), func(pod *corev1.Pod) bool { return slices.Contains(surplus, pod) })
		surplus = append(surplus, pods.ByDeletion(rest, s.pods, s.now)[:more]...)
	}
	if len(surplus) > 0 {
		return 0, c.dropPods(ctx, owner, s, surplus)
	}
	missing := wanted - len(s.active)
	if s.replacesFailedOnly() {
		missing -= s.terminating
	}
	if missing <= 0 {
		return 0, nil
	}
	if wait := s.backoff(); wait > 0 {
		return wait, nil
	}
	return 0, c.createPods(ctx, owner, s, min(missing, maxCreations))
}

// wantedActive returns the number of pods that are to be active. Without completions, no pod is
// created after the first success.
func (s *state) wantedActive() int {
	parallelism := int(*s.job.Spec.Parallelism)
	switch completions := s.job.Spec.Completions; {
	case completions != nil:
		return max(0, min(parallelism, int(*completions)-s.succeeded()-len(s.failedIndexes)))
	case s.succeeded() > 0:
		return len(s.active)
	}
	return parallelism
}

func (s *state) suspend() {
	if s.setCondition(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended") {
		s.suspended = "Suspended"
		s.job.Status.StartTime = nil
	}
}

func (s *state) resume() {
	if s.setCondition(batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed") {
		s.suspended = "Resumed"
		s.job.Status.StartTime = new(metav1.NewTime(s.now))
	}
}

// backoff returns the time until failed pods are replaced, by the number of failures after the last
// success.
func (s *state) backoff() time.Duration {
	var success, failure time.Time
	for _, pod := range s.pods {
		if s.outcome(pod) == succeeded && endOf(pod).After(success) {
			success = endOf(pod)
		}
	}
	delay := time.Duration(0)
	for _, pod := range s.pods {
		if s.outcome(pod) != failed || !endOf(pod).After(success) {
			continue
		}
		delay = min(max(minBackoff, 2*delay), maxBackoff)
		if endOf(pod).After(failure) {
			failure = endOf(pod)
		}
	}
	return max(0, failure.Add(delay).Sub(s.now))
}

// endOf returns the time at which a pod ended: the latest end of its containers, or else the time
// at which it ceased to be ready, was deleted, or was created.
func endOf(pod *corev1.Pod) time.Time {
	var end time.Time
	for i := range pod.Status.ContainerStatuses {
		terminated := pod.Status.ContainerStatuses[i].State.Terminated
		if terminated == nil {
			end = time.Time{}
			break
		}
		if terminated.FinishedAt.After(end) {
			end = terminated.FinishedAt.Time
		}
	}
	ready := pods.Condition(pod, corev1.PodReady)
	switch {
	case !end.IsZero():
		return end
	case ready != nil && ready.Status == corev1.ConditionFalse:
		return ready.LastTransitionTime.Time
	case pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil:
		return pod.DeletionTimestamp.Add(-time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	}
	return pod.CreationTimestamp.Time
}

// createPods creates up to n pods, and adds them to the active ones.
func (c *controller) createPods(ctx context.Context, owner reconcile.Owner, s *state, n int) error {
	var pending []int
	if s.isIndexed() {
		pending = s.pendingIndexes(n)
		n = len(pending)
	}
	var mu sync.Mutex // guards s.active
	return pods.InBatches(n, func(i int) error {
		pod := pods.FromTemplate(&s.job.Spec.Template, owner)
		track(pod)
		if s.isIndexed() {
			s.setIndex(pod, pending[i])
		}
		created, err := c.pods.CreateFor(ctx, owner, pod)
		if err != nil {
			return reconcile.IgnoreTerminating(err)
		}
		mu.Lock()
		defer mu.Unlock()
		s.active = append(s.active, created)
		return nil
	})
}

// setIndex makes a new pod the pod of a completion index.
func (s *state) setIndex(pod *corev1.Pod, index int) {
	suffix := fmt.Sprintf("-%d-", index)
	prefix := s.job.Name
	pod.GenerateName = prefix[:min(len(prefix), maxIndexPrefix-len(suffix))] + suffix
	pod.Spec.Hostname = fmt.Sprintf("%s-%d", s.job.Name, index)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index))
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index))
	if s.job.Spec.BackoffLimitPerIndex != nil {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobIndexFailureCountAnnotation, strconv.Itoa(s.failuresOfIndex(index)))
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			addIndexVariable(&list[i])
		}
	}
}

func addIndexVariable(c *corev1.Container) {
	const name = "JOB_COMPLETION_INDEX"
	if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name }) {
		return
	}
	path := fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation)
	c.Env = append(c.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}})
}

// failuresOfIndex returns the number of failures of an index, as far as its pods remain.
func (s *state) failuresOfIndex(index int) int {
	failures := 0
	for _, pod := range s.pods {
		if i, ok := s.indexOf(pod); ok && i == index && s.outcome(pod) == failed {
			failures = max(failures, failuresOf(pod)+1)
		}
	}
	return failures
}

// dropPods deletes active pods that do not count as failed: their finalizer is removed first.
func (c *controller) dropPods(ctx context.Context, owner reconcile.Owner, s *state, drop []*corev1.Pod) error {
	if err := c.release(ctx, drop); err != nil {
		return err
	}
	return c.deletePods(ctx, owner, s, drop)
}

// deletePods deletes active pods.
func (c *controller) deletePods(ctx context.Context, owner reconcile.Owner, s *state, drop []*corev1.Pod) error {
	err := pods.InBatches(len(drop), func(i int) error { return c.pods.DeleteFor(ctx, owner, drop[i]) })
	if err == nil {
		s.terminating += len(drop)
		s.active = slices.DeleteFunc(slices.Clone(s.active), func(pod *corev1.Pod) bool { return slices.Contains(drop, pod) })
	}
	return err
}
