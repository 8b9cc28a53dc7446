package daemonset

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
)

const (
	// generationLabel is the label of pods with the deprecated generation of the template.
	generationLabel = "pod-template-generation"
	// replaceDelay is the minimum age of a failed pod that is replaced.
	replaceDelay = time.Second
	// parallelDeletions is the number of pods of a set that are deleted at the same time.
	parallelDeletions = 16
)

// changes are the nodes that get a pod, and the pods to delete.
type changes struct {
	create []string
	remove []*corev1.Pod
}

func (c changes) isEmpty() bool { return len(c.create)+len(c.remove) == 0 }

// apply creates and deletes pods.
func (r *rollout) apply(ctx context.Context, c changes) error {
	err := pods.InBatches(len(c.create), func(i int) error {
		_, err := r.pods.CreateFor(ctx, r.owner, r.newPod(c.create[i]))
		return reconcile.IgnoreTerminating(err)
	})
	var deletions errgroup.Group
	deletions.SetLimit(parallelDeletions)
	for _, pod := range c.remove {
		deletions.Go(func() error { return r.pods.DeleteFor(ctx, r.owner, pod) })
	}
	if deleteErr := deletions.Wait(); err == nil {
		err = deleteErr
	}
	return err
}

// manage returns the changes after which each node has the number of pods that it should have.
func (r *rollout) manage(ctx context.Context) changes {
	c := changes{remove: r.lost}
	for _, t := range r.targets {
		switch {
		case t.runs && len(t.pods) == 0:
			c.create = append(c.create, t.name)
		case t.keeps:
			running := r.running(ctx, t, &c)
			if r.surges() {
				r.manageSurge(t, running, &c)
			} else if len(running) > 1 {
				c.remove = append(c.remove, running[1:]...)
			}
		default:
			c.remove = append(c.remove, undeleted(t.pods)...)
		}
	}
	return c
}

// running returns the pods of a node that have not ended and are not being deleted. Pods that have
// ended are removed.
func (r *rollout) running(ctx context.Context, t *target, c *changes) []*corev1.Pod {
	var running []*corev1.Pod
	for _, pod := range undeleted(t.pods) {
		switch pod.Status.Phase {
		case corev1.PodFailed:
			if wait := pod.CreationTimestamp.Add(replaceDelay).Sub(r.now); wait > 0 {
				r.again = wait
				continue
			}
			r.events.Warn(ctx, r.owner.ObjectReference(), "FailedDaemonPod",
				fmt.Sprintf("Found failed daemon pod %s/%s on node %s, will try to kill it", pod.Namespace, pod.Name, t.name))
			c.remove = append(c.remove, pod)
		case corev1.PodSucceeded:
			r.events.Normal(ctx, r.owner.ObjectReference(), "SucceededDaemonPod",
				fmt.Sprintf("Found succeeded daemon pod %s/%s on node %s, will try to delete it", pod.Namespace, pod.Name, t.name))
			c.remove = append(c.remove, pod)
		default:
			running = append(running, pod)
		}
	}
	return running
}

// manageSurge allows a new pod beside an old one: until the new one is available, while the old one
// is ready.
func (r *rollout) manageSurge(t *target, running []*corev1.Pod, c *changes) {
	if len(running) == 0 && t.runs {
		c.create = append(c.create, t.name)
	}
	if len(running) <= 1 {
		return
	}
	var newest, oldest *corev1.Pod
	for _, pod := range running {
		switch isNew := r.isUpdated(pod); {
		case isNew && newest == nil:
			newest = pod
		case !isNew && oldest == nil:
			oldest = pod
		default:
			c.remove = append(c.remove, pod)
		}
	}
	if newest != nil && oldest != nil && (!pods.IsReady(oldest) || r.isAvailable(newest)) {
		c.remove = append(c.remove, oldest)
	}
}

func undeleted(list []*corev1.Pod) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, pod := range list {
		if pod.DeletionTimestamp == nil {
			kept = append(kept, pod)
		}
	}
	return kept
}

// isUpdated reports whether a pod has the template of the set.
func (r *rollout) isUpdated(pod *corev1.Pod) bool {
	generation := r.set.Annotations[appsv1.DeprecatedTemplateGeneration]
	return pod.Labels[hashLabel] == r.hash || generation != "" && pod.Labels[generationLabel] == generation
}

func (r *rollout) isAvailable(pod *corev1.Pod) bool {
	return pods.IsAvailable(pod, r.set.Spec.MinReadySeconds, r.now)
}
