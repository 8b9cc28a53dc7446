package kubelet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

// lifecycle schedules pods and writes their status.
type lifecycle struct {
	scheduler
	pods     reconcile.Objects[*corev1.Pod]
	recorder reconcile.Recorder
}

func newPods(config reconcile.Config) reconcile.Controller {
	l := &lifecycle{
		scheduler: newScheduler(config),
		pods:      podObjects(config, kubeletManager),
		recorder:  reconcile.Recorder{Catalog: config.Catalog, Component: kubeletManager, Logger: config.Logger},
	}
	return reconcile.New(config, reconcile.Spec[*corev1.Pod]{
		Name: "pods", Objects: l.pods, Related: []schema.GroupResource{l.nodes.Resource}, Reconcile: l.reconcile,
	})
}

// reconcile brings a pod one step further. The write of a step causes the next one.
func (l *lifecycle) reconcile(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	if pod.Spec.NodeName == "" {
		return 0, l.schedule(ctx, pod)
	}
	ctx = asKubelet(ctx, pod.Spec.NodeName)
	switch {
	case pod.DeletionTimestamp != nil:
		if left := untilKilled(pod, registry.Now(ctx)); left > 0 {
			return left, nil
		}
		return 0, l.terminate(ctx, pod)
	case pods.HasEnded(pod):
		return 0, nil
	case pod.Status.Phase != corev1.PodRunning:
		return 0, l.start(ctx, pod)
	}
	return l.watch(ctx, pod)
}

// start makes a pod running. Its address is derived from its revision, which no other pod has.
func (l *lifecycle) start(ctx context.Context, pod *corev1.Pod) error {
	host, err := l.hostIP(ctx, pod.Spec.NodeName)
	if err != nil {
		return err
	}
	address := host
	if !pod.Spec.HostNetwork {
		if address, err = podIP(pod); err != nil {
			return err
		}
	}
	_, err = l.pods.UpdateStatus(ctx, pod, func(pod *corev1.Pod) {
		if pod.Status.Phase == corev1.PodPending && pod.DeletionTimestamp == nil {
			setAddresses(&pod.Status, host, address)
			setRunning(pod, metav1.NewTime(registry.Now(ctx)))
		}
	})
	return err
}

func (l *lifecycle) hostIP(ctx context.Context, name string) (string, error) {
	node, err := l.nodes.Get(ctx, "", name)
	if apierrors.IsNotFound(err) {
		return hostIP, nil
	}
	if err != nil {
		return "", err
	}
	return internalIP(node), nil
}

// watch ends a pod that completes or exceeds its deadline, and follows changes of its spec and of
// its readiness gates.
func (l *lifecycle) watch(ctx context.Context, pod *corev1.Pod) (again time.Duration, err error) {
	code, exits, err := exitCode(pod)
	if err != nil {
		about := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		l.recorder.Warn(ctx, about, "InvalidExitCode", err.Error())
	}
	now := metav1.NewTime(registry.Now(ctx))
	left, limited := untilDeadline(pod, now.Time)
	update := follow
	switch {
	case limited && left <= 0:
		update = exceedDeadline
	case exits:
		update = func(pod *corev1.Pod, now metav1.Time) { setExited(pod, code, now) }
	case limited:
		again = left
	}
	_, err = l.pods.UpdateStatus(ctx, pod, func(pod *corev1.Pod) {
		if pod.Status.Phase == corev1.PodRunning {
			update(pod, now)
		}
	})
	return again, err
}

// untilDeadline returns the time until a pod exceeds activeDeadlineSeconds.
func untilDeadline(pod *corev1.Pod, now time.Time) (left time.Duration, limited bool) {
	deadline, began := pod.Spec.ActiveDeadlineSeconds, pod.Status.StartTime
	if deadline == nil || began == nil {
		return 0, false
	}
	return began.Add(time.Duration(*deadline) * time.Second).Sub(now), true
}

// terminate ends the containers of a pod that is being deleted, and removes the pod. Finalizers
// keep it.
func (l *lifecycle) terminate(ctx context.Context, pod *corev1.Pod) error {
	pod, err := l.pods.UpdateStatus(ctx, pod, func(pod *corev1.Pod) {
		if !pods.HasEnded(pod) {
			setTerminated(pod, metav1.NewTime(registry.Now(ctx)))
		}
	})
	if err != nil {
		return reconcile.IgnoreGone(err)
	}
	if grace := pod.DeletionGracePeriodSeconds; grace != nil && *grace == 0 && len(pod.Finalizers) > 0 {
		return nil // the removal continues without the finalizers
	}
	if err := l.pods.DeleteNow(ctx, pod); err != nil {
		return fmt.Errorf("remove the pod: %w", err)
	}
	return nil
}

func exceedDeadline(pod *corev1.Pod, now metav1.Time) {
	setEnded(pod, corev1.PodFailed, exit{code: killedExitCode, at: now})
	pod.Status.Reason = "DeadlineExceeded"
	pod.Status.Message = "Pod was active on the node longer than the specified deadline"
}
