// Package disruption keeps the status of PodDisruptionBudgets, as kube-controller-manager's
// disruption-controller does. Evictions are decided by this status. scale.go determines the number
// of expected pods.
package disruption

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

const (
	controllerName = "disruption-controller"
	// evictionTimeout is the time for which an evicted pod counts as disrupted before its deletion.
	evictionTimeout = 2 * time.Minute
)

type controller struct {
	catalog  *registry.Catalog
	budgets  reconcile.Objects[*policyv1.PodDisruptionBudget]
	pods     reconcile.Objects[*corev1.Pod]
	recorder reconcile.Recorder
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &controller{
		catalog:  config.Catalog,
		budgets:  reconcile.Objects[*policyv1.PodDisruptionBudget]{Catalog: config.Catalog, Resource: policyv1.Resource("poddisruptionbudgets")},
		pods:     reconcile.Objects[*corev1.Pod]{Catalog: config.Catalog, Resource: corev1.Resource("pods")},
		recorder: reconcile.Recorder{Catalog: config.Catalog, Component: controllerName, Logger: config.Logger},
	}
	return reconcile.New(config, reconcile.Spec[*policyv1.PodDisruptionBudget]{
		Name: controllerName, Account: controllerName, Objects: c.budgets,
		Related: []schema.GroupResource{
			c.pods.Resource, corev1.Resource("replicationcontrollers"),
			appsv1.Resource("deployments"), appsv1.Resource("replicasets"), appsv1.Resource("statefulsets"),
		},
		Reconcile: c.reconcile,
	})
}

func (c *controller) reconcile(ctx context.Context, budget *policyv1.PodDisruptionBudget) (time.Duration, error) {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil {
		return 0, err
	}
	selected, err := c.pods.List(ctx, budget.Namespace, selector)
	if err != nil {
		return 0, err
	}
	next := budget.DeepCopy()
	status := &next.Status
	status.ObservedGeneration = budget.Generation
	expected, desired, err := c.expect(ctx, budget, selected)
	if err != nil {
		return 0, c.fail(ctx, budget, next, err)
	}
	disrupted, again := disruptedPods(selected, status.DisruptedPods, registry.Now(ctx))
	healthy := countHealthy(selected, disrupted)
	status.ExpectedPods, status.DesiredHealthy, status.CurrentHealthy = expected, desired, healthy
	status.DisruptedPods = disrupted
	status.DisruptionsAllowed = 0
	condition := metav1.Condition{Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason}
	if expected > 0 && healthy > desired {
		status.DisruptionsAllowed = healthy - desired
		condition = metav1.Condition{Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason}
	}
	setCondition(status, condition)
	_, err = c.budgets.PutStatus(ctx, budget, next)
	return again, err
}

// fail allows no disruption and returns the error, so that the reconciliation is repeated.
func (c *controller) fail(ctx context.Context, budget, next *policyv1.PodDisruptionBudget, failure error) error {
	kind := policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
	c.recorder.Warn(ctx, c.budgets.Owner(budget, kind).ObjectReference(), "CalculateExpectedPodCountFailed",
		"Failed to calculate the number of expected pods: "+failure.Error())
	next.Status.DisruptionsAllowed = 0
	setCondition(&next.Status, metav1.Condition{Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: failure.Error()})
	if _, err := c.budgets.PutStatus(ctx, budget, next); err != nil {
		return err
	}
	return failure
}

func setCondition(status *policyv1.PodDisruptionBudgetStatus, condition metav1.Condition) {
	condition.Type = policyv1.DisruptionAllowedCondition
	condition.ObservedGeneration = status.ObservedGeneration
	meta.SetStatusCondition(&status.Conditions, condition)
}

// expect returns the number of expected pods, and the number of pods that must be healthy.
func (c *controller) expect(ctx context.Context, budget *policyv1.PodDisruptionBudget, selected []*corev1.Pod) (expected, desired int32, err error) {
	available, unavailable := budget.Spec.MinAvailable, budget.Spec.MaxUnavailable
	if unavailable == nil && available == nil {
		return 0, 0, nil
	}
	if unavailable == nil && available.Type == intstr.Int {
		return int32(len(selected)), available.IntVal, nil
	}
	if expected, err = c.scaleOf(ctx, selected); err != nil {
		return 0, 0, err
	}
	limit := available
	if unavailable != nil {
		limit = unavailable
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(limit, int(expected), true)
	if unavailable != nil {
		return expected, max(0, expected-int32(scaled)), err
	}
	return expected, int32(scaled), err
}

// disruptedPods returns the evicted pods whose deletion has not begun, and the time after which the
// first one counts as healthy again.
func disruptedPods(selected []*corev1.Pod, evicted map[string]metav1.Time, now time.Time) (disrupted map[string]metav1.Time, again time.Duration) {
	for _, pod := range selected {
		at, ok := evicted[pod.Name]
		left := at.Add(evictionTimeout).Sub(now)
		if !ok || pod.DeletionTimestamp != nil || left <= 0 {
			continue
		}
		if disrupted == nil {
			disrupted = map[string]metav1.Time{}
		}
		disrupted[pod.Name] = at
		if again == 0 || left < again {
			again = left
		}
	}
	return disrupted, again
}

func countHealthy(selected []*corev1.Pod, disrupted map[string]metav1.Time) int32 {
	var healthy int32
	for _, pod := range selected {
		if _, ok := disrupted[pod.Name]; !ok && pod.DeletionTimestamp == nil && pods.IsReady(pod) {
			healthy++
		}
	}
	return healthy
}
