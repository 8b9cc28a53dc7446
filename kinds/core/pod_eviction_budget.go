package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// maxDisruptedPods is the number of evictions that may wait for the confirmation of a budget's
// controller.
const maxDisruptedPods = 2000

const wouldViolate = "Cannot evict pod as it would violate the pod's disruption budget."

func (e *eviction) budgets() (*registry.Store, error) {
	return registry.Require(e.pods.Catalog(), policyv1.Resource("poddisruptionbudgets"))
}

// budgetOf returns the budget of a pod, nil if it has none.
func (e *eviction) budgetOf(ctx context.Context, pod *corev1.Pod) (*policyv1.PodDisruptionBudget, error) {
	store, err := e.budgets()
	if err != nil {
		return nil, err
	}
	budgets, err := registry.ReadAll[*policyv1.PodDisruptionBudget](ctx, store, registry.ListRequest{Namespace: pod.Namespace})
	if err != nil {
		return nil, err
	}
	var found *policyv1.PodDisruptionBudget
	for _, budget := range budgets {
		if !selectsPod(budget, pod) {
			continue
		}
		if found != nil {
			return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
				Status:  metav1.StatusFailure,
				Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
				Code:    http.StatusInternalServerError,
			}}
		}
		found = budget
	}
	return found, nil
}

// selectsPod reports whether a budget selects a pod. An empty selector selects all pods, a missing
// or malformed one none.
func selectsPod(b *policyv1.PodDisruptionBudget, p *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}

// spend decrements the allowed disruptions of the budget.
func (e *eviction) spend(ctx context.Context, name string) error {
	store, err := e.budgets()
	if err != nil {
		return err
	}
	_, err = store.Update(ctx, registry.UpdateRequest{
		Namespace:   e.namespace,
		Name:        name,
		Subresource: "status",
		Options:     e.write,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			return charge(ctx, current.(*policyv1.PodDisruptionBudget), e.name)
		},
	})
	return err
}

// charge returns the budget after one more disruption, or the reason against it.
func charge(ctx context.Context, current *policyv1.PodDisruptionBudget, pod string) (*policyv1.PodDisruptionBudget, error) {
	status := &current.Status
	switch {
	case status.ObservedGeneration < current.Generation:
		return nil, tooManyRequests(current.Name)
	case status.DisruptionsAllowed < 0:
		const reason = "pdb disruptions allowed is negative"
		return nil, forbiddenBy(current, reason, reason)
	case len(status.DisruptedPods) > maxDisruptedPods:
		return nil, forbiddenBy(current, "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
			"too many pending evictions not confirmed by PDB controller")
	case status.DisruptionsAllowed == 0:
		return nil, violation(0, exhaustion(current))
	}
	budget := current.DeepCopy()
	status = &budget.Status
	status.DisruptionsAllowed--
	if status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type:               policyv1.DisruptionAllowedCondition,
			Status:             metav1.ConditionFalse,
			Reason:             policyv1.InsufficientPodsReason,
			ObservedGeneration: status.ObservedGeneration,
		})
	}
	if status.DisruptedPods == nil {
		status.DisruptedPods = make(map[string]metav1.Time)
	}
	status.DisruptedPods[pod] = metav1.NewTime(registry.Now(ctx))
	return budget, nil
}

// exhaustion returns the cause of the rejection by a budget without an allowed disruption.
func exhaustion(b *policyv1.PodDisruptionBudget) string {
	condition := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	explained := condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != ""
	switch {
	case explained && condition.Reason == policyv1.SyncFailedReason: // the numbers are not up to date
		return notCurrently(b) + " because it failed sync: " + condition.Message
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case explained:
		return fmt.Sprintf("%s (%s): %s", notCurrently(b), condition.Reason, condition.Message)
	default:
		return notCurrently(b)
	}
}

func notCurrently(b *policyv1.PodDisruptionBudget) string {
	return "The disruption budget " + b.Name + " does not allow evicting pods currently"
}

// forbiddenBy returns a 403 for a budget with an invalid status.
func forbiddenBy(b *policyv1.PodDisruptionBudget, reason, cause string) error {
	err := apierrors.NewForbidden(policyv1.Resource("poddisruptionbudget"), b.Name, errors.New(reason))
	return withBudgetCause(err, notCurrently(b)+": "+cause)
}

func tooManyRequests(budget string) error {
	return violation(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget))
}

func violation(retryAfter int, cause string) error {
	return withBudgetCause(apierrors.NewTooManyRequests(wouldViolate, retryAfter), cause)
}

func withBudgetCause(err *apierrors.StatusError, cause string) error {
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
		metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
	return err
}
