package core_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// runningPod creates a bound and ready pod, whose disruption counts.
func runningPod(e env, name string) {
	e.Helper()
	pod := newPod(name)
	pod.Labels = map[string]string{"app": "a"}
	pod.Spec.NodeName = "n"
	e.Create("pods", pod)
	mustPut(e, "pods", name, "status", func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
}

// budget creates a budget with the status that its controller would write.
func budget(e env, name string, status policyv1.PodDisruptionBudgetStatus) {
	e.Helper()
	e.Create("poddisruptionbudgets.policy", &policyv1.PodDisruptionBudget{
		ObjectMeta: named(name),
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
	})
	mustPut(e, "poddisruptionbudgets.policy", name, "status", func(b *policyv1.PodDisruptionBudget) { b.Status = status })
}

func evict(e env, name string) error {
	return e.post("pods", name, "eviction", &policyv1.Eviction{ObjectMeta: named(name)})
}

func TestEvictionChargesTheBudgetAndDeletesThePod(t *testing.T) {
	e := newEnv(t)
	runningPod(e, "p")
	budget(e, "b", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1})
	if err := evict(e, "p"); err != nil {
		t.Fatal(err)
	}
	pod := get[*corev1.Pod](e, "pods", "p")
	if pod.DeletionTimestamp == nil {
		t.Error("the pod is not being deleted")
	}
	last := pod.Status.Conditions[len(pod.Status.Conditions)-1]
	if last.Type != corev1.DisruptionTarget || last.Reason != "EvictionByEvictionAPI" {
		t.Errorf("last condition %v, want DisruptionTarget", last)
	}
	status := get[*policyv1.PodDisruptionBudget](e, "poddisruptionbudgets.policy", "b").Status
	if _, ok := status.DisruptedPods["p"]; !ok || status.DisruptionsAllowed != 0 {
		t.Errorf("the budget allows %d and knows of %v", status.DisruptionsAllowed, status.DisruptedPods)
	}
	if c := status.Conditions; len(c) != 1 || c[0].Reason != policyv1.InsufficientPodsReason {
		t.Errorf("conditions of the budget: %v, want InsufficientPods", c)
	}
}

func TestEvictionRejectedByBudget(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status policyv1.PodDisruptionBudgetStatus
		cause  string
	}{
		{"no disruption is left", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 2, DesiredHealthy: 2},
			"The disruption budget b needs 2 healthy pods and has 2 currently"},
		{"the controller has not observed the budget", policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
			"The disruption budget b is still being processed by the server."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEnv(t)
			runningPod(e, "p")
			budget(e, "b", tc.status)
			err := evict(e, "p")
			if !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
				t.Fatalf("%v, want 429 with the cause DisruptionBudget", err)
			}
			status := err.(apierrors.APIStatus).Status()
			if got := status.Details.Causes[0].Message; got != tc.cause {
				t.Errorf("cause %q, want %q", got, tc.cause)
			}
			if get[*corev1.Pod](e, "pods", "p").DeletionTimestamp != nil {
				t.Error("the pod is being deleted all the same")
			}
		})
	}
}

func TestEvictionWithoutDisruption(t *testing.T) {
	e := newEnv(t)
	budget(e, "b", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 2, DesiredHealthy: 2})
	pending := newPod("pending")
	pending.Labels = map[string]string{"app": "a"}
	e.Create("pods", pending)
	runningPod(e, "unready")
	mustPut(e, "pods", "unready", "status", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	for _, name := range []string{"pending", "unready"} {
		if err := evict(e, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEvictionWithTwoBudgets(t *testing.T) {
	e := newEnv(t)
	runningPod(e, "p")
	budget(e, "b1", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1})
	budget(e, "b2", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1})
	err := evict(e, "p")
	const want = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestEvictionHonoursPreconditionsAndDryRun(t *testing.T) {
	e := newEnv(t)
	runningPod(e, "p")
	stale := &policyv1.Eviction{ObjectMeta: named("p"), DeleteOptions: metav1.NewRVDeletionPrecondition("1")}
	if err := e.post("pods", "p", "eviction", stale); !apierrors.IsConflict(err) {
		t.Errorf("with a stale version: %v, want 409", err)
	}
	before := get[*corev1.Pod](e, "pods", "p").ResourceVersion
	_, err := e.Store("pods").CreateSubresource(t.Context(), "eviction", registry.CreateRequest{
		Namespace: "default", Name: "p", Object: &policyv1.Eviction{ObjectMeta: named("p")}, Options: registry.WriteOptions{DryRun: true},
	})
	if err != nil {
		t.Errorf("dry run: %v", err)
	}
	if after := get[*corev1.Pod](e, "pods", "p").ResourceVersion; after != before {
		t.Errorf("a dry run took the pod from version %s to %s", before, after)
	}
	current := &policyv1.Eviction{ObjectMeta: named("p"), DeleteOptions: metav1.NewRVDeletionPrecondition(before)}
	if err := e.post("pods", "p", "eviction", current); err != nil {
		t.Errorf("with the current version: %v", err)
	}
}
