package core_test

import (
	"errors"
	"fmt"
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
	notAllowed := func(reason, message string) []metav1.Condition {
		return []metav1.Condition{{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, LastTransitionTime: metav1.Unix(1, 0), Reason: reason, Message: message,
		}}
	}
	const currently = "The disruption budget b does not allow evicting pods currently"
	pending := map[string]metav1.Time{}
	for i := range 2001 {
		pending[fmt.Sprintf("p%d", i)] = metav1.Time{}
	}
	for _, tc := range []struct {
		name   string
		status policyv1.PodDisruptionBudgetStatus
		code   int32
		cause  string
	}{
		{"no disruption is left", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 2, DesiredHealthy: 2}, 429,
			"The disruption budget b needs 2 healthy pods and has 2 currently"},
		{"the controller has not observed the budget", policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}, 429,
			"The disruption budget b is still being processed by the server."},
		{"the controller has failed", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, Conditions: notAllowed(policyv1.SyncFailedReason, "no scale")}, 429,
			currently + " because it failed sync: no scale"},
		{"a condition with a message", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 3, DesiredHealthy: 2, Conditions: notAllowed("Why", "because")}, 429,
			currently + " (Why): because"},
		{"enough healthy pods", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 3, DesiredHealthy: 2}, 429, currently},
		{"too many evictions are not confirmed", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, DisruptedPods: pending}, 403,
			currently + ": too many pending evictions not confirmed by PDB controller"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEnv(t)
			runningPod(e, "p")
			budget(e, "b", tc.status)
			var err *apierrors.StatusError
			if !errors.As(evict(e, "p"), &err) || err.ErrStatus.Code != tc.code || len(err.ErrStatus.Details.Causes) != 1 {
				t.Fatalf("%v, want %d with one cause", err, tc.code)
			}
			if got, want := err.ErrStatus.Details.Causes[0], (metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: tc.cause}); got != want {
				t.Errorf("cause %v, want %v", got, want)
			}
			if get[*corev1.Pod](e, "pods", "p").DeletionTimestamp != nil {
				t.Error("the pod is being deleted all the same")
			}
		})
	}
}

// An empty selector selects all pods, a missing one none.
func TestEvictionAndTheSelectorOfTheBudget(t *testing.T) {
	e := newEnv(t)
	runningPod(e, "p")
	for name, selector := range map[string]*metav1.LabelSelector{"all": {}, "none": nil} {
		e.Create("poddisruptionbudgets.policy", &policyv1.PodDisruptionBudget{
			ObjectMeta: named(name), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector},
		})
	}
	var err *apierrors.StatusError
	if !errors.As(evict(e, "p"), &err) || err.ErrStatus.Code != 429 {
		t.Errorf("%v, want 429", err)
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

// TestEvictionOptions checks the options in the body of an eviction. Invalid ones are rejected
// before the pod changes.
func TestEvictionOptions(t *testing.T) {
	e := newEnv(t)
	runningPod(e, "p")
	never := &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletionPropagation("Never"))}
	for _, tc := range []struct {
		rule, pod string
		options   *metav1.DeleteOptions
		dryRun    bool
		want      string
	}{
		{"invalid options", "p", never, false,
			`DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Never": supported values: "Foreground", "Background", "Orphan", "nil"`},
		{"invalid options for a missing pod", "none", never, false, `pods "none" not found`},
		{"another dry run than that of the request", "p", &metav1.DeleteOptions{DryRun: []string{"None"}}, true,
			"Non-matching dry-run options in request and content: [All] and [None]"},
		{"the dry run of the request", "p", &metav1.DeleteOptions{DryRun: []string{"All"}}, true, ""},
		{"a dry run", "p", &metav1.DeleteOptions{DryRun: []string{"All"}}, false, ""},
		{"a dry run of the request only", "p", &metav1.DeleteOptions{}, true, ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			_, err := e.Store("pods").CreateSubresource(t.Context(), "eviction", registry.CreateRequest{
				Namespace: "default", Name: tc.pod, Options: registry.WriteOptions{DryRun: tc.dryRun},
				Object: &policyv1.Eviction{ObjectMeta: named(tc.pod), DeleteOptions: tc.options.DeepCopy()},
			})
			if got := errorText(err); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
			if pod := get[*corev1.Pod](e, "pods", "p"); pod.DeletionTimestamp != nil || len(pod.Status.Conditions) != 1 {
				t.Errorf("the pod has changed: %v", pod)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
