package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi"
)

// startDaemonSets returns the environment of a server with nodes.
func startDaemonSets(t *testing.T, nodes ...string) *env {
	t.Helper()
	e := startWorkloads(t, "daemonset")
	for _, name := range nodes {
		e.createNode(name)
		e.patchNode(name, `{"spec":{"taints":null}}`)
	}
	return e
}

func (e *env) patchNode(name, patch string) {
	e.Helper()
	_, err := e.client.CoreV1().Nodes().Patch(e.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}

func (e *env) createDaemonSet(edit ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	e.Helper()
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DaemonSetSpec{Selector: appSelector(), Template: podTemplate("a")},
	}
	for _, edit := range edit {
		edit(set)
	}
	created, err := e.client.AppsV1().DaemonSets("default").Create(e.Context(), set, metav1.CreateOptions{})
	e.check(err)
	return created
}

func rolling(surge, unavailable int32) func(*appsv1.DaemonSet) {
	return func(set *appsv1.DaemonSet) {
		set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{
			MaxSurge: new(intstr.FromInt32(surge)), MaxUnavailable: new(intstr.FromInt32(unavailable)),
		}
	}
}

func (e *env) daemonSet() *appsv1.DaemonSet {
	e.Helper()
	set, err := e.client.AppsV1().DaemonSets("default").Get(e.Context(), "web", metav1.GetOptions{})
	e.check(err)
	return set
}

func (e *env) setImageOfDaemonSet(image string) {
	e.Helper()
	patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":%q}]}}}}`, image)
	_, err := e.client.AppsV1().DaemonSets("default").Patch(e.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}

// daemonsAreUpdated reports whether each of n nodes has one available pod of the latest template.
func (e *env) daemonsAreUpdated(n int32) bool {
	e.Helper()
	set := e.daemonSet()
	s := set.Status
	return s.ObservedGeneration == set.Generation && s.DesiredNumberScheduled == n && s.UpdatedNumberScheduled == n &&
		s.NumberAvailable == n && len(e.appPods()) == int(n)
}

func (e *env) awaitDaemons(n int32) {
	e.Helper()
	e.awaitReady(fmt.Sprint("a pod on each of ", n, " nodes"), func(context.Context) bool { return e.daemonsAreUpdated(n) })
}

// nodeOf returns the node that a pod is to be bound to.
func nodeOf(pod *corev1.Pod) string {
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

func (e *env) awaitNodesOfPods(what string, want ...string) {
	e.Helper()
	e.await(what, func(context.Context) bool {
		var nodes []string
		for _, pod := range e.appPods() {
			nodes = append(nodes, nodeOf(&pod))
		}
		slices.Sort(nodes)
		return cmp.Equal(want, nodes)
	})
}

func TestDaemonSetHasAPodOnEachNode(t *testing.T) {
	e := startDaemonSets(t, "a", "b")
	set := e.createDaemonSet()
	e.awaitDaemons(2)
	e.awaitNodesOfPods("a pod on each node", "a", "b")
	pod := e.appPods()[0]
	if !metav1.IsControlledBy(&pod, set) || pod.Labels["pod-template-generation"] != "1" || pod.Labels["controller-revision-hash"] == "" || len(pod.Spec.Tolerations) != 6 {
		t.Errorf("pod %+v", pod)
	}
	e.awaitEventText(set.UID, "SuccessfulCreate", "Created pod: "+pod.Name)
	want := appsv1.DaemonSetStatus{ObservedGeneration: 1, DesiredNumberScheduled: 2, CurrentNumberScheduled: 2, UpdatedNumberScheduled: 2, NumberReady: 2, NumberAvailable: 2}
	if diff := cmp.Diff(want, e.daemonSet().Status); diff != "" {
		t.Error(diff)
	}
	e.createNode("c")
	e.patchNode("c", `{"spec":{"taints":null}}`)
	e.awaitDaemons(3)
	e.check(e.client.CoreV1().Nodes().Delete(t.Context(), "a", metav1.DeleteOptions{}))
	e.awaitNodesOfPods("no pod for a node that is gone", "b", "c")
}

func TestDaemonSetSelectsNodes(t *testing.T) {
	e := startDaemonSets(t, "a", "b", "c", "d")
	for _, name := range []string{"a", "b", "c"} {
		e.patchNode(name, `{"metadata":{"labels":{"disk":"ssd"}}}`)
	}
	e.patchNode("b", `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`)
	e.createDaemonSet(func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	})
	e.awaitNodesOfPods("pods on selected nodes without a taint", "a", "c")
	e.patchNode("a", `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`)
	e.await("a node that keeps its pod", func(context.Context) bool {
		s := e.daemonSet().Status
		return s.DesiredNumberScheduled == 1 && s.NumberMisscheduled == 1
	})
	e.awaitNodesOfPods("a taint NoSchedule keeps the pod", "a", "c")
	e.patchNode("a", `{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)
	e.awaitNodesOfPods("a taint NoExecute removes the pod", "c")
	e.patchNode("c", `{"metadata":{"labels":{"disk":null}}}`)
	e.awaitNodesOfPods("no pod on a node that is not selected")
}

// A rolling update replaces as many pods as maxUnavailable allows, and no more before the new ones
// are available.
func TestDaemonSetKeepsMaxUnavailable(t *testing.T) {
	e := startDaemonSets(t, "a", "b", "c")
	e.createDaemonSet(rolling(0, 2))
	e.awaitDaemons(3)
	e.setImageOfDaemonSet("b")
	e.await("two new pods that are not available", func(context.Context) bool {
		s := e.daemonSet().Status
		return s.UpdatedNumberScheduled == 2 && s.NumberUnavailable == 2
	})
	images := e.images()
	slices.Sort(images)
	if diff := cmp.Diff([]string{"a", "b", "b"}, images); diff != "" {
		t.Error(diff)
	}
	e.awaitDaemons(3)
}

// With maxSurge an old pod is deleted after the new one on its node is available.
func TestDaemonSetSurges(t *testing.T) {
	e := startDaemonSets(t, "a", "b", "c")
	e.createDaemonSet(rolling(1, 0))
	e.awaitDaemons(3)
	e.setImageOfDaemonSet("b")
	least, most := 3, 3
	e.await("the end of the update", func(context.Context) bool {
		ready := 0
		list := e.makeReady()
		for _, pod := range list {
			if pod.Status.Phase == corev1.PodRunning {
				ready++
			}
		}
		least, most = min(least, ready), max(most, len(list))
		return e.daemonsAreUpdated(3)
	})
	if least != 3 || most != 4 {
		t.Errorf("%d to %d pods", least, most)
	}
}

func TestDaemonSetUpdatesOnDelete(t *testing.T) {
	e := startDaemonSets(t, "a", "b")
	e.createDaemonSet(func(set *appsv1.DaemonSet) { set.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType })
	e.awaitDaemons(2)
	e.setImageOfDaemonSet("b")
	e.await("the new revision", func(context.Context) bool {
		set := e.daemonSet()
		return set.Status.ObservedGeneration == set.Generation && set.Status.UpdatedNumberScheduled == 0
	})
	e.endPod(e.appPods()[0].Name)
	e.awaitReady("one new pod", func(context.Context) bool {
		s := e.daemonSet().Status
		return s.UpdatedNumberScheduled == 1 && s.NumberAvailable == 2
	})
}

func TestDaemonSetReplacesPodsThatEnd(t *testing.T) {
	e := startDaemonSets(t, "a")
	set := e.createDaemonSet()
	e.awaitDaemons(1)
	pod := e.appPods()[0]
	e.patchPod(pod.Name, `{"status":{"phase":"Failed"}}`, "status")
	e.awaitPodGone(pod.Name)
	e.awaitDaemons(1)
	e.awaitEventText(set.UID, "FailedDaemonPod", fmt.Sprintf("Found failed daemon pod default/%s on node a, will try to kill it", pod.Name))
}

// A former template gets its revision back, as the latest one.
func TestDaemonSetRevisions(t *testing.T) {
	e := startDaemonSets(t, "a")
	e.createDaemonSet(func(set *appsv1.DaemonSet) { set.Spec.RevisionHistoryLimit = new(int32(1)) })
	e.awaitDaemons(1)
	for _, image := range []string{"b", "c", "b", "a"} {
		e.setImageOfDaemonSet(image)
		e.awaitDaemons(1)
	}
	e.await("the limit of the history", func(context.Context) bool {
		list, err := e.client.AppsV1().ControllerRevisions("default").List(t.Context(), metav1.ListOptions{})
		e.check(err)
		var numbers []int64
		for _, r := range list.Items {
			numbers = append(numbers, r.Revision)
		}
		slices.Sort(numbers)
		return cmp.Equal([]int64{4, 5}, numbers)
	})
}

// An update continues after a restart of the server, with pods that a scheduler binds.
func TestDaemonSetContinuesAfterARestart(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir(), Controllers: []string{"*", "daemonset"}}
	e := start(t, config)
	for _, name := range []string{"a", "b"} {
		e.createNode(name)
		e.patchNode(name, `{"spec":{"taints":null}}`)
	}
	e.createDaemonSet()
	e.awaitDaemons(2)
	e.setImageOfDaemonSet("b")
	e.await("an update that waits for a new pod", func(context.Context) bool { return e.daemonSet().Status.UpdatedNumberScheduled == 1 })
	e.stop()
	config.Pods = miniapi.PodsInstant
	e = start(t, config)
	e.await("the end of the update", func(context.Context) bool { return e.daemonsAreUpdated(2) })
	for _, pod := range e.appPods() {
		if pod.Spec.NodeName != nodeOf(&pod) || pod.Spec.Containers[0].Image != "b" {
			t.Errorf("pod on node %s with image %s", pod.Spec.NodeName, pod.Spec.Containers[0].Image)
		}
	}
}
