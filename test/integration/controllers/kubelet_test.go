package controllers_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

func instant() miniapi.Config { return miniapi.Config{Pods: miniapi.PodsInstant} }

// pod returns a pod with the container c.
func pod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "x"}}},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// completes makes a pod run to completion, with an exit code. "" is no annotation.
func completes(policy corev1.RestartPolicy, code string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.RestartPolicy = policy
		if code != "" {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, "miniapi.dev/exit-code", code)
		}
	}
}

func (e *env) createPod(p *corev1.Pod) *corev1.Pod {
	e.Helper()
	created, err := e.client.CoreV1().Pods("default").Create(e.Context(), p, metav1.CreateOptions{})
	e.check(err)
	return created
}

func (e *env) getPod(name string) *corev1.Pod {
	e.Helper()
	p, err := e.client.CoreV1().Pods("default").Get(e.Context(), name, metav1.GetOptions{})
	e.check(err)
	return p
}

// awaitPod waits until a pod meets a condition, and returns the pod.
func (e *env) awaitPod(name, what string, done func(*corev1.Pod) bool) (p *corev1.Pod) {
	e.Helper()
	e.await("pod "+name+": "+what, func(ctx context.Context) bool {
		var err error
		p, err = e.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && done(p)
	})
	return p
}

func (e *env) awaitPhase(name string, phase corev1.PodPhase) *corev1.Pod {
	e.Helper()
	return e.awaitPod(name, string(phase), func(p *corev1.Pod) bool { return p.Status.Phase == phase })
}

func (e *env) awaitPodGone(name string) {
	e.Helper()
	e.await("the end of pod "+name, func(ctx context.Context) bool {
		_, err := e.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func (e *env) patchPod(name, patch string, subresources ...string) {
	e.Helper()
	_, err := e.client.CoreV1().Pods("default").Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	e.check(err)
}

func podCondition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func isReady(p *corev1.Pod) bool {
	return podCondition(p, corev1.PodReady).Status == corev1.ConditionTrue
}

func (e *env) createNode(name string, edits ...func(*corev1.Node)) {
	e.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
	for _, edit := range edits {
		edit(node)
	}
	_, err := e.client.CoreV1().Nodes().Create(e.Context(), node, metav1.CreateOptions{})
	e.check(err)
}

func (e *env) awaitNode(name string) {
	e.Helper()
	e.await("readiness of node "+name, func(ctx context.Context) bool {
		node, err := e.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		ready := func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		return err == nil && slices.ContainsFunc(node.Status.Conditions, ready) && len(node.Spec.Taints) == 0
	})
}

func TestAPodBecomesReady(t *testing.T) {
	e := start(t, instant())
	always := corev1.ContainerRestartPolicyAlways
	e.createPod(pod("p", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "x"}, {Name: "sidecar", Image: "x", RestartPolicy: &always}}
	}))
	p := e.awaitPod("p", "ready", isReady)
	status := p.Status
	if p.Spec.NodeName != "miniapi" || status.Phase != corev1.PodRunning || status.StartTime == nil || status.PodIP == "" || status.HostIP == "" {
		t.Errorf("node %q, status %+v", p.Spec.NodeName, status)
	}
	if c := status.ContainerStatuses; len(c) != 1 || !c[0].Ready || c[0].State.Running == nil || c[0].Image != "x" {
		t.Errorf("containers %+v", c)
	}
	if c := status.InitContainerStatuses; len(c) != 2 || c[0].State.Terminated == nil || c[0].State.Terminated.Reason != "Completed" || c[1].State.Running == nil {
		t.Errorf("init containers %+v", c)
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReadyToStartContainers} {
		if c := podCondition(p, kind); c.Status != corev1.ConditionTrue || c.LastTransitionTime.IsZero() {
			t.Errorf("%s: %+v", kind, c)
		}
	}
	managers := map[string]bool{}
	for _, m := range p.ManagedFields {
		managers[m.Manager+"/"+m.Subresource] = true
	}
	if !managers["kubelet/status"] {
		t.Errorf("managers %v", managers)
	}
}

func TestPodsHaveDifferentAddresses(t *testing.T) {
	e := start(t, instant())
	seen := map[string]bool{}
	for _, name := range []string{"a", "b", "c"} {
		e.createPod(pod(name))
		seen[e.awaitPod(name, "ready", isReady).Status.PodIP] = true
	}
	if len(seen) != 3 {
		t.Errorf("addresses %v", seen)
	}
}

// With nodes of the user, pods are bound to the nodes that their selectors and tolerations allow.
func TestPodsAreBoundToMatchingNodes(t *testing.T) {
	e := start(t, instant())
	e.awaitNode("miniapi")
	e.createNode("a")
	e.awaitNode("a")
	e.check(e.client.CoreV1().Nodes().Delete(t.Context(), "miniapi", metav1.DeleteOptions{}))
	e.createNode("tainted", func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	})
	e.createNode("cordoned", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	on := func(name string, tolerations ...corev1.Toleration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"name": name}
			p.Spec.Tolerations = tolerations
		}
	}
	e.createPod(pod("free"))
	e.createPod(pod("tolerant", on("tainted", corev1.Toleration{Operator: corev1.TolerationOpExists})))
	e.createPod(pod("intolerant", on("tainted")))
	e.createPod(pod("unschedulable", on("cordoned")))
	for name, want := range map[string]string{"free": "a", "tolerant": "tainted"} {
		if got := e.awaitPod(name, "ready", isReady).Spec.NodeName; got != want {
			t.Errorf("pod %s is on node %q", name, got)
		}
	}
	for _, name := range []string{"intolerant", "unschedulable"} {
		e.awaitPod(name, "unschedulable", func(p *corev1.Pod) bool {
			return p.Spec.NodeName == "" && podCondition(p, corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
		})
	}
	// A change of a node schedules waiting pods.
	_, err := e.client.CoreV1().Nodes().Patch(t.Context(), "cordoned", types.MergePatchType, []byte(`{"spec":{"unschedulable":null,"taints":null}}`), metav1.PatchOptions{})
	e.check(err)
	e.awaitPod("unschedulable", "ready", isReady)
}

// A ready node is left alone, so a restart between two writes must not leave its taint.
func TestANodeLosesItsTaintBeforeItIsReady(t *testing.T) {
	e := start(t, instant())
	nodes, err := e.client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"})
	e.check(err)
	defer nodes.Stop()
	e.createNode("a")
	for event := range nodes.ResultChan() {
		node := event.Object.(*corev1.Node)
		if len(node.Status.Conditions) == 0 {
			continue
		}
		if len(node.Spec.Taints) > 0 {
			t.Errorf("the ready node has the taints %v", node.Spec.Taints)
		}
		return
	}
	t.Error("the watch ended")
}

func TestPodsAreSpreadOverNodes(t *testing.T) {
	config := instant()
	config.Controllers = []string{"-*"}
	e := start(t, config)
	e.awaitNode("miniapi")
	e.createNode("a")
	e.awaitNode("a")
	nodes := map[string]int{}
	for _, name := range []string{"1", "2", "3", "4"} {
		e.createPod(pod(name))
		nodes[e.awaitPod(name, "ready", isReady).Spec.NodeName]++
	}
	if nodes["miniapi"] != 2 || nodes["a"] != 2 {
		t.Errorf("pods per node: %v", nodes)
	}
}

// The pods of other schedulers and pods with scheduling gates are not bound.
func TestSchedulingIsLeftToOthers(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("other", func(p *corev1.Pod) { p.Spec.SchedulerName = "other" }))
	e.createPod(pod("gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/g"}} }))
	e.createPod(pod("elsewhere", func(p *corev1.Pod) { p.Spec.NodeName = "elsewhere" }))
	e.awaitPod("elsewhere", "ready", isReady)
	for _, name := range []string{"other", "gated"} {
		if p := e.getPod(name); p.Spec.NodeName != "" {
			t.Errorf("pod %s is bound to %s", name, p.Spec.NodeName)
		}
	}
	e.patchPod("gated", `{"spec":{"schedulingGates":null}}`)
	e.awaitPod("gated", "ready", isReady)
}

func TestPodsRunToCompletion(t *testing.T) {
	e := start(t, instant())
	for name, c := range map[string]struct {
		edit  func(*corev1.Pod)
		phase corev1.PodPhase
		code  int32
	}{
		"never":       {completes(corev1.RestartPolicyNever, ""), corev1.PodSucceeded, 0},
		"on-failure":  {completes(corev1.RestartPolicyOnFailure, ""), corev1.PodSucceeded, 0},
		"failing":     {completes(corev1.RestartPolicyNever, "3"), corev1.PodFailed, 3},
		"with-a-zero": {completes(corev1.RestartPolicyNever, "0"), corev1.PodSucceeded, 0},
	} {
		e.createPod(pod(name, c.edit))
		p := e.awaitPhase(name, c.phase)
		if end := p.Status.ContainerStatuses[0].State.Terminated; end == nil || end.ExitCode != c.code || isReady(p) {
			t.Errorf("%s: %+v", name, p.Status)
		}
	}
}

// The annotation none keeps a pod running. A change of the annotation ends it.
func TestAPodRunsUntilItsExitCodeIsSet(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p", completes(corev1.RestartPolicyNever, "none")))
	e.awaitPod("p", "ready", isReady)
	e.patchPod("p", `{"metadata":{"annotations":{"miniapi.dev/exit-code":"1"}}}`)
	e.awaitPhase("p", corev1.PodFailed)
}

func TestFailingContainersAreRestarted(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p", completes(corev1.RestartPolicyOnFailure, "1")))
	p := e.awaitPod("p", "crashing", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].RestartCount == 1
	})
	if c := p.Status.ContainerStatuses[0]; c.State.Waiting == nil || c.State.Waiting.Reason != "CrashLoopBackOff" || isReady(p) || p.Status.Phase != corev1.PodRunning {
		t.Errorf("status %+v", p.Status)
	}
}

func TestAnInvalidExitCodeIsReported(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p", completes(corev1.RestartPolicyNever, "x")))
	e.await("an Event", func(ctx context.Context) bool {
		events, err := e.client.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=InvalidExitCode"})
		return err == nil && len(events.Items) == 1
	})
	e.awaitPhase("p", corev1.PodRunning)
}

func TestAPodExceedsItsDeadline(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p", func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(1)) }))
	if p := e.awaitPhase("p", corev1.PodFailed); p.Status.Reason != "DeadlineExceeded" {
		t.Errorf("status %+v", p.Status)
	}
}

// A deleted pod ends at once, although its grace period is 30 seconds.
func TestADeletedPodEnds(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p"))
	e.awaitPod("p", "ready", isReady)
	e.check(e.client.CoreV1().Pods("default").Delete(t.Context(), "p", metav1.DeleteOptions{}))
	e.awaitPodGone("p")
}

// Containers that ignore SIGTERM are killed after the grace period.
func TestADeletedPodUsesItsGracePeriod(t *testing.T) {
	const grace = 1
	e := start(t, instant())
	e.createPod(pod("p", func(p *corev1.Pod) {
		p.Annotations = map[string]string{"miniapi.dev/termination": "ignore"}
		p.Spec.TerminationGracePeriodSeconds = new(int64(grace))
		p.Finalizers = []string{"example.com/hold"}
	}))
	e.awaitPod("p", "ready", isReady)
	deleted := &corev1.Pod{}
	e.check(e.client.CoreV1().RESTClient().Delete().Namespace("default").Resource("pods").Name("p").Do(t.Context()).Into(deleted))
	if !isReady(deleted) || deleted.DeletionTimestamp == nil {
		t.Errorf("at the beginning of the grace period: %+v", deleted.Status)
	}
	p := e.awaitPhase("p", corev1.PodFailed)
	terminated := p.Status.ContainerStatuses[0].State.Terminated
	if terminated.ExitCode != 137 || terminated.FinishedAt.Before(deleted.DeletionTimestamp) {
		t.Errorf("killed %+v, at the end of the grace period %v", terminated, deleted.DeletionTimestamp)
	}
	e.patchPod("p", `{"metadata":{"finalizers":null}}`)
	e.awaitPodGone("p")
}

// The containers of a deleted pod end also if a finalizer keeps the pod.
func TestAFinalizerKeepsADeletedPod(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p", func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} }))
	e.awaitPod("p", "ready", isReady)
	e.check(e.client.CoreV1().Pods("default").Delete(t.Context(), "p", metav1.DeleteOptions{}))
	p := e.awaitPod("p", "without grace", func(p *corev1.Pod) bool { return *p.DeletionGracePeriodSeconds == 0 })
	if p.Status.Phase != corev1.PodSucceeded || isReady(p) || p.Status.ContainerStatuses[0].State.Terminated == nil {
		t.Errorf("status %+v", p.Status)
	}
	e.patchPod("p", `{"metadata":{"finalizers":null}}`)
	e.awaitPodGone("p")
}

func TestReadinessGates(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p", func(p *corev1.Pod) {
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	}))
	p := e.awaitPhase("p", corev1.PodRunning)
	if c := podCondition(p, corev1.PodReady); c.Status != corev1.ConditionFalse || c.Reason != "ReadinessGatesNotReady" {
		t.Errorf("Ready %+v", c)
	}
	_, err := e.client.CoreV1().Pods("default").Patch(t.Context(), "p", types.StrategicMergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"example.com/gate","status":"True"}]}}`), metav1.PatchOptions{}, "status")
	e.check(err)
	e.awaitPod("p", "ready", isReady)
}

// The status that a test writes stays: a pod can be made unready.
func TestAPodCanBeMadeUnready(t *testing.T) {
	e := start(t, instant())
	e.createPod(pod("p"))
	e.awaitPod("p", "ready", isReady)
	_, err := e.client.CoreV1().Pods("default").Patch(t.Context(), "p", types.StrategicMergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`), metav1.PatchOptions{}, "status")
	e.check(err)
	// The image of a container changes, and the kubelet adopts it.
	_, err = e.client.CoreV1().Pods("default").Patch(t.Context(), "p", types.StrategicMergePatchType,
		[]byte(`{"spec":{"containers":[{"name":"c","image":"y"}]}}`), metav1.PatchOptions{})
	e.check(err)
	p := e.awaitPod("p", "with the new image", func(p *corev1.Pod) bool { return p.Status.ContainerStatuses[0].Image == "y" })
	if isReady(p) || p.Status.ObservedGeneration != p.Generation {
		t.Errorf("status %+v", p.Status)
	}
}

// Without pods=instant a pod stays as it is.
func TestPodsAreManualByDefault(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createPod(pod("p"))
	e.createNamespace("n")
	e.deleteNamespace("n")
	e.awaitNamespaceGone("n")
	nodes, err := e.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	e.check(err)
	if p := e.getPod("p"); p.Spec.NodeName != "" || p.Status.Phase != corev1.PodPending || len(nodes.Items) > 0 {
		t.Errorf("pod %+v, nodes %v", p.Status, nodes.Items)
	}
}
