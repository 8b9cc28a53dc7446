package policy

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func validateBudget(b *policyv1.PodDisruptionBudget) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(spec, kind.GoJSON(b.Spec), "minAvailable and maxUnavailable cannot be both set"))
	}
	return slices.Concat(errs,
		validateBound(b.Spec.MinAvailable, spec.Child("minAvailable")),
		validateBound(b.Spec.MaxUnavailable, spec.Child("maxUnavailable")),
		kind.Selector(spec.Child("selector"), b.Spec.Selector),
		kind.SupportedIfSet(spec.Child("unhealthyPodEvictionPolicy"), b.Spec.UnhealthyPodEvictionPolicy,
			policyv1.AlwaysAllow, policyv1.IfHealthyBudget),
	)
}

// validateBound requires a number of pods or a percentage.
func validateBound(bound *intstr.IntOrString, at *field.Path) field.ErrorList {
	return slices.Concat(kind.IntOrPercent(at, bound), kind.AtMost100Percent(at, bound))
}

func validateBudgetStatus(b *policyv1.PodDisruptionBudget, features *feature.Set) field.ErrorList {
	at := field.NewPath("status")
	return slices.Concat(
		kind.Conditions(features, at.Child("conditions"), b.Status.Conditions),
		kind.NonNegative(at.Child("disruptionsAllowed"), &b.Status.DisruptionsAllowed),
		kind.NonNegative(at.Child("currentHealthy"), &b.Status.CurrentHealthy),
		kind.NonNegative(at.Child("desiredHealthy"), &b.Status.DesiredHealthy),
		kind.NonNegative(at.Child("expectedPods"), &b.Status.ExpectedPods),
	)
}
