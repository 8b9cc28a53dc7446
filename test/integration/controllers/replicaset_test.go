package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

func (e *env) createReplicaSet(replicas int32, edit ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	e.Helper()
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: appSelector(), Template: podTemplate("a")},
	}
	for _, edit := range edit {
		edit(set)
	}
	created, err := e.client.AppsV1().ReplicaSets("default").Create(e.Context(), set, metav1.CreateOptions{})
	e.check(err)
	return created
}

func (e *env) replicaSet() *appsv1.ReplicaSet {
	e.Helper()
	set, err := e.client.AppsV1().ReplicaSets("default").Get(e.Context(), "web", metav1.GetOptions{})
	e.check(err)
	return set
}

func (e *env) patchReplicaSet(patch string) {
	e.Helper()
	_, err := e.client.AppsV1().ReplicaSets("default").Patch(e.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}

// awaitPods waits until the ReplicaSet reports a number of pods, and returns the pods.
func (e *env) awaitPods(n int) []corev1.Pod {
	e.Helper()
	e.await(fmt.Sprint(n, " pods"), func(context.Context) bool {
		status := e.replicaSet().Status
		return int(status.Replicas) == n && len(e.appPods()) == n
	})
	return e.appPods()
}

func TestReplicaSetCreatesItsPods(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	set := e.createReplicaSet(3, func(set *appsv1.ReplicaSet) {
		set.Spec.Template.Annotations = map[string]string{"note": "n"}
		set.Spec.Template.Finalizers = []string{"example.com/hold"}
	})
	for _, pod := range e.awaitPods(3) {
		if !strings.HasPrefix(pod.Name, "web-") || pod.GenerateName != "web-" || pod.Annotations["note"] != "n" || len(pod.Finalizers) != 1 {
			t.Errorf("metadata %+v", pod.ObjectMeta)
		}
		if diff := cmp.Diff([]metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}, pod.OwnerReferences); diff != "" {
			t.Error(diff)
		}
		if manager := pod.ManagedFields[0].Manager; manager != "kube-controller-manager" {
			t.Errorf("manager %q", manager)
		}
		event := e.awaitEventText(set.UID, "SuccessfulCreate", "Created pod: "+pod.Name)
		if event.Type != corev1.EventTypeNormal || event.Count != 1 || event.Source.Component != "replicaset-controller" {
			t.Errorf("event %+v", event)
		}
	}
	want := appsv1.ReplicaSetStatus{Replicas: 3, FullyLabeledReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, TerminatingReplicas: new(int32), ObservedGeneration: 1}
	e.awaitReady("the status of ready pods", func(context.Context) bool { return cmp.Equal(want, e.replicaSet().Status) })
}

func TestReplicaSetReplacesPodsThatEnd(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	e.createReplicaSet(2)
	list := e.awaitPods(2)
	failed := list[0].DeepCopy()
	failed.Status.Phase = corev1.PodFailed
	_, err := e.client.CoreV1().Pods("default").UpdateStatus(t.Context(), failed, metav1.UpdateOptions{})
	e.check(err)
	e.endPod(list[1].Name)
	e.await("two new pods beside the failed one", func(context.Context) bool {
		return len(e.appPods()) == 3 && e.replicaSet().Status.Replicas == 2
	})
}

// The pods that are not ready are deleted first, then the pods with a lower deletion cost.
func TestReplicaSetDeletesTheLeastNeededPods(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	set := e.createReplicaSet(4)
	list := e.awaitPods(4)
	for _, pod := range list[1:] {
		e.setReady(&pod, corev1.ConditionTrue)
	}
	e.setReady(&list[0], corev1.ConditionFalse)
	e.patchPod(list[2].Name, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1"}}}`)
	e.patchReplicaSet(`{"spec":{"replicas":2}}`)
	if diff := cmp.Diff(names([]corev1.Pod{list[1], list[3]}), names(e.awaitPods(2))); diff != "" {
		t.Error(diff)
	}
	e.awaitEventText(set.UID, "SuccessfulDelete", "Deleted pod: "+list[0].Name)
}

func TestReplicaSetAdoptsAndReleasesPods(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	orphan, err := e.client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "orphan"}, Spec: podTemplate("a").Spec,
	}, metav1.CreateOptions{})
	e.check(err)
	set := e.createReplicaSet(2)
	e.awaitPods(2)
	e.patchPod(orphan.Name, `{"metadata":{"labels":{"app":"web"}}}`)
	e.await("the deletion of a third pod", func(context.Context) bool {
		return len(e.appPods()) == 2 && e.replicaSet().Status.Replicas == 2
	})
	released := e.appPods()[0]
	e.patchPod(released.Name, `{"metadata":{"labels":{"app":"other"}}}`)
	e.await("the release", func(ctx context.Context) bool {
		pod, err := e.client.CoreV1().Pods("default").Get(ctx, released.Name, metav1.GetOptions{})
		e.check(err)
		return len(pod.OwnerReferences) == 0
	})
	e.awaitPods(2)
	e.check(e.client.AppsV1().ReplicaSets("default").Delete(t.Context(), set.Name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}))
	e.await("the end of the ReplicaSet", func(ctx context.Context) bool {
		_, err := e.client.AppsV1().ReplicaSets("default").Get(ctx, set.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	kept := names(e.appPods())
	e.createReplicaSet(2)
	if diff := cmp.Diff(kept, names(e.awaitPods(2))); diff != "" {
		t.Errorf("the new ReplicaSet did not adopt the pods: %s", diff)
	}
}

func TestReplicaSetCountsAvailablePods(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	e.createReplicaSet(1, func(set *appsv1.ReplicaSet) { set.Spec.MinReadySeconds = 3600 })
	e.awaitPods(1)
	began := time.Now()
	e.makeReady()
	e.await("a ready pod that is not available", func(context.Context) bool {
		status := e.replicaSet().Status
		return status.ReadyReplicas == 1 && status.AvailableReplicas == 0
	})
	// The pod becomes available without another write, unless the test has taken too long already.
	e.patchReplicaSet(fmt.Sprintf(`{"spec":{"minReadySeconds":%d}}`, 2+int(time.Since(began).Seconds())))
	e.await("an available pod", func(context.Context) bool { return e.replicaSet().Status.AvailableReplicas == 1 })
}

// A quota limits the pods. The ReplicaSet reports it, and creates the other pods later.
func TestReplicaSetReportsAQuota(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	e.limitPods("1")
	set := e.createReplicaSet(3)
	e.await("the condition ReplicaFailure", func(context.Context) bool {
		conditions := e.replicaSet().Status.Conditions
		return len(conditions) == 1 && conditions[0].Type == appsv1.ReplicaSetReplicaFailure &&
			conditions[0].Reason == "FailedCreate" && strings.Contains(conditions[0].Message, "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1")
	})
	event := e.awaitEventText(set.UID, "FailedCreate", "Error creating: pods \"web-")
	if event.Type != corev1.EventTypeWarning {
		t.Errorf("event %+v", event)
	}
	e.unlimitPods()
	e.awaitPods(3)
	e.await("the end of ReplicaFailure", func(context.Context) bool { return len(e.replicaSet().Status.Conditions) == 0 })
}

// A pod that is being deleted is replaced at once, and counted as terminating until it has ended.
func TestReplicaSetCountsTerminatingPods(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	e.createReplicaSet(1)
	pod := e.awaitPods(1)[0]
	e.bind(&pod)
	e.check(e.client.CoreV1().Pods("default").Delete(t.Context(), pod.Name, metav1.DeleteOptions{}))
	terminating := func(n int32) func(context.Context) bool {
		return func(context.Context) bool {
			status := e.replicaSet().Status
			return status.Replicas == 1 && *status.TerminatingReplicas == n
		}
	}
	e.await("a terminating pod", terminating(1))
	e.endPod(pod.Name)
	e.await("no terminating pod", terminating(0))
}

func TestReplicaSetsOfADeletedNamespaceEnd(t *testing.T) {
	e := startWorkloads(t, "replicaset")
	e.createNamespace("n")
	_, err := e.client.AppsV1().ReplicaSets("n").Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: new(int32(5)), Selector: appSelector(), Template: podTemplate("a")},
	}, metav1.CreateOptions{})
	e.check(err)
	e.deleteNamespace("n")
	e.awaitNamespaceGone("n")
}

// The time of a ReplicaSet from its creation to 100 pods, with their Events.
func BenchmarkScaleOfAReplicaSet(b *testing.B) {
	e := start(b, miniapi.Config{Controllers: []string{"*", "replicaset"}})
	for b.Loop() {
		set := e.createReplicaSet(100)
		e.await("100 pods", func(context.Context) bool { return e.replicaSet().Status.Replicas == 100 })
		b.StopTimer()
		e.check(e.client.AppsV1().ReplicaSets("default").Delete(b.Context(), set.Name, metav1.DeleteOptions{}))
		e.await("no pods", func(context.Context) bool { return len(e.appPods()) == 0 })
		b.StartTimer()
	}
}
