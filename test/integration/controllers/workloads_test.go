package controllers_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

// startWorkloads returns the environment of a server with the default controllers and others.
func startWorkloads(t *testing.T, controllers ...string) *env {
	t.Helper()
	return start(t, miniapi.Config{Controllers: append([]string{"*"}, controllers...)})
}

// app are the labels of the pods in these tests.
func app() map[string]string { return map[string]string{"app": "web"} }

func appSelector() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: app()} }

func podTemplate(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: app()},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

// appPods returns the pods of the application in the namespace default.
func (e *env) appPods() []corev1.Pod {
	e.Helper()
	list, err := e.client.CoreV1().Pods("default").List(e.Context(), metav1.ListOptions{LabelSelector: labels.FormatLabels(app())})
	e.check(err)
	return list.Items
}

// makeReady writes the status of a kubelet to the pods that have not started. It returns the former
// state of all pods of the application.
func (e *env) makeReady() []corev1.Pod {
	e.Helper()
	list := e.appPods()
	for i := range list {
		if pod := &list[i]; pod.Status.Phase != corev1.PodRunning && pod.DeletionTimestamp == nil {
			e.setReady(pod, corev1.ConditionTrue)
		}
	}
	return list
}

// setReady writes the status of a running pod. The pod may be gone.
func (e *env) setReady(pod *corev1.Pod, ready corev1.ConditionStatus) {
	e.Helper()
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}}
	_, err := e.client.CoreV1().Pods(pod.Namespace).UpdateStatus(e.Context(), pod, metav1.UpdateOptions{})
	if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		e.check(err)
	}
}

// awaitReady makes pods ready until done returns true.
func (e *env) awaitReady(what string, done func(ctx context.Context) bool) {
	e.Helper()
	e.await(what, func(ctx context.Context) bool {
		e.makeReady()
		return done(ctx)
	})
}

// bind assigns a pod to a node. The deletion of the pod then waits for the kubelet.
func (e *env) bind(pod *corev1.Pod) {
	e.Helper()
	e.check(e.client.CoreV1().Pods(pod.Namespace).Bind(e.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
	}, metav1.CreateOptions{}))
}

// endPod removes a pod at once, as a kubelet does after the end of its containers.
func (e *env) endPod(name string) {
	e.Helper()
	e.check(e.client.CoreV1().Pods("default").Delete(e.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
}

// awaitEventText waits until an Event about an object has a text, and returns the Event.
func (e *env) awaitEventText(about types.UID, reason, text string) (found corev1.Event) {
	e.Helper()
	e.await("Event "+reason+": "+text, func(ctx context.Context) bool {
		events, err := e.client.CoreV1().Events("").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(about)})
		e.check(err)
		i := slices.IndexFunc(events.Items, func(event corev1.Event) bool {
			return event.Reason == reason && strings.HasPrefix(event.Message, text)
		})
		if i >= 0 {
			found = events.Items[i]
		}
		return i >= 0
	})
	return found
}

// limitPods creates a quota of pods, with the status that the quota controller writes.
func (e *env) limitPods(n string) {
	e.Helper()
	hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse(n)}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	quota, err := e.client.CoreV1().ResourceQuotas("default").Create(e.Context(), quota, metav1.CreateOptions{})
	e.check(err)
	quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}
	_, err = e.client.CoreV1().ResourceQuotas("default").UpdateStatus(e.Context(), quota, metav1.UpdateOptions{})
	e.check(err)
}

func (e *env) unlimitPods() {
	e.Helper()
	e.check(e.client.CoreV1().ResourceQuotas("default").Delete(e.Context(), "q", metav1.DeleteOptions{}))
}

// names returns the names of pods in alphabetical order.
func names(pods []corev1.Pod) []string {
	var list []string
	for _, pod := range pods {
		list = append(list, pod.Name)
	}
	slices.Sort(list)
	return list
}
