package policy

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateBudget(b *policyv1.PodDisruptionBudget) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(spec, kind.GoJSON(b.Spec), "minAvailable and maxUnavailable cannot be both set"))
	}
	errs = append(errs, validateBound(b.Spec.MinAvailable, spec.Child("minAvailable"))...)
	errs = append(errs, validateBound(b.Spec.MaxUnavailable, spec.Child("maxUnavailable"))...)
	errs = append(errs, metavalidation.ValidateLabelSelector(b.Spec.Selector, metavalidation.LabelSelectorValidationOptions{}, spec.Child("selector"))...)
	if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil && *p != policyv1.AlwaysAllow && *p != policyv1.IfHealthyBudget {
		errs = append(errs, field.NotSupported(spec.Child("unhealthyPodEvictionPolicy"), *p,
			[]policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}))
	}
	return errs
}

// validateBound wants a number of pods, or how many of a hundred.
func validateBound(bound *intstr.IntOrString, at *field.Path) field.ErrorList {
	switch {
	case bound == nil:
		return nil
	case bound.Type == intstr.Int:
		return validation.ValidateNonnegativeField(int64(bound.IntVal), at)
	}
	if messages := utilvalidation.IsValidPercent(bound.StrVal); len(messages) > 0 {
		return kind.Invalid(at, bound, messages)
	}
	if percent, err := intstr.GetScaledValueFromIntOrPercent(bound, 100, false); err == nil && percent > 100 {
		return field.ErrorList{field.Invalid(at, bound, "must not be greater than 100%")}
	}
	return nil
}
