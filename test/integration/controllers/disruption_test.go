package controllers_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi"
)

func disruptions() miniapi.Config {
	return miniapi.Config{Controllers: []string{"*", "disruption", "deployment", "replicaset"}, Pods: miniapi.PodsInstant}
}

// createBudget creates the budget b of the pods with the label app=s.
func (e *env) createBudget(edit func(*policyv1.PodDisruptionBudgetSpec)) {
	e.Helper()
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "s"}}
	edit(&b.Spec)
	_, err := e.client.PolicyV1().PodDisruptionBudgets("default").Create(e.Context(), b, metav1.CreateOptions{})
	e.check(err)
}

// awaitBudget waits until the status of the budget is "EXPECTED HEALTHY/DESIRED ALLOWED REASON".
func (e *env) awaitBudget(want string) {
	e.Helper()
	last := ""
	defer func() { e.Helper(); e.Logf("the last status is %q, want %q", last, want) }()
	e.await("budget "+want, func(ctx context.Context) bool {
		b, err := e.client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "b", metav1.GetOptions{})
		e.check(err)
		if len(b.Status.Conditions) == 0 || b.Status.ObservedGeneration != b.Generation {
			return false
		}
		s := b.Status
		last = fmt.Sprintf("%d %d/%d %d %s", s.ExpectedPods, s.CurrentHealthy, s.DesiredHealthy, s.DisruptionsAllowed, s.Conditions[0].Reason)
		return last == want
	})
}

func (e *env) evict(name string) error {
	return e.client.CoreV1().Pods("default").EvictV1(e.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func TestABudgetCountsHealthyPods(t *testing.T) {
	e := start(t, disruptions())
	e.createBudget(func(s *policyv1.PodDisruptionBudgetSpec) { s.MinAvailable = new(intstr.FromInt32(1)) })
	e.awaitBudget("0 0/1 0 InsufficientPods")
	e.createPod(pod("a", ofService))
	e.awaitBudget("1 1/1 0 InsufficientPods")
	e.createPod(pod("b", ofService))
	e.awaitBudget("2 2/1 1 SufficientPods")
	e.check(e.evict("a"))
	e.awaitPodGone("a")
	e.awaitBudget("1 1/1 0 InsufficientPods")
	if err := e.evict("b"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("eviction: %v", err)
	}
}

// Percentages and maxUnavailable refer to the replicas of the controllers of the pods.
func TestABudgetRefersToTheReplicasOfADeployment(t *testing.T) {
	e := start(t, disruptions())
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}
	d.Spec.Replicas = new(int32(4))
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "s"}}
	d.Spec.Template.Labels = map[string]string{"app": "s"}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "x"}}
	_, err := e.client.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{})
	e.check(err)
	e.createBudget(func(s *policyv1.PodDisruptionBudgetSpec) { s.MaxUnavailable = new(intstr.FromString("25%")) })
	e.awaitBudget("4 4/3 1 SufficientPods")
}

// A budget whose pods have a controller without a scale allows no disruption.
func TestABudgetOfPodsWithoutAScaleFails(t *testing.T) {
	e := start(t, disruptions())
	owner := e.createConfigMap("default", "owner")
	e.createPod(pod("a", ofService, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	}))
	e.createBudget(func(s *policyv1.PodDisruptionBudgetSpec) { s.MaxUnavailable = new(intstr.FromInt32(1)) })
	e.awaitBudget("0 0/0 0 SyncFailed")
	e.awaitReason("CalculateExpectedPodCountFailed")
}
