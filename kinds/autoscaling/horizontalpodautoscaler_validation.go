package autoscaling

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// The longest stabilization window and period, in seconds.
const (
	longestPeriod = 1800
	longestWindow = 3600
)

// options are the rules that hold for a spec.
type options struct {
	least             int32 // the least number of replicas
	target, described groups
}

// groups are the API groups that a reference may name.
type groups int

const (
	named    groups = iota // all but the core group
	anyGroup               // and the core group
	anything               // and malformed groups
)

func validateAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler, features *feature.Set) field.ErrorList {
	return validateSpec(&a.Spec, options{least: leastReplicas(features), target: targetGroups(a), described: anyGroup})
}

func leastReplicas(features *feature.Set) int32 {
	if features.Enabled(feature.HPAScaleToZero) {
		return 0
	}
	return 1
}

// targetGroups returns the groups that the target of a kind may be in: ReplicationControllers are
// in the core group.
func targetGroups(a *autoscalingv2.HorizontalPodAutoscaler) groups {
	if a.Spec.ScaleTargetRef.Kind == "ReplicationController" {
		return anyGroup
	}
	return named
}

// validateAutoscalerUpdate accepts existing values that a create does not: zero replicas, which a
// feature gate enables, and groups that older releases accepted.
func validateAutoscalerUpdate(a, old *autoscalingv2.HorizontalPodAutoscaler, features *feature.Set) field.ErrorList {
	t := options{least: leastReplicas(features), target: targetGroups(a), described: anyGroup}
	if n := old.Spec.MinReplicas; n != nil && *n == 0 {
		t.least = 0
	}
	if now, was := a.Spec.ScaleTargetRef, old.Spec.ScaleTargetRef; now.APIVersion == was.APIVersion && now.Kind == was.Kind {
		t.target = anything
	}
	for _, m := range old.Spec.Metrics {
		if m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil &&
			len(validateGroup(m.Object.DescribedObject, anyGroup, nil)) > 0 {
			t.described = anything
		}
	}
	return validateSpec(&a.Spec, t)
}

func validateStatus(a, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	at := field.NewPath("status")
	errs := slices.Concat(
		kind.ByTag(kind.NonNegative(at.Child("currentReplicas"), &a.Status.CurrentReplicas)),
		kind.ByTag(kind.NonNegative(at.Child("desiredReplicas"), &a.Status.DesiredReplicas)),
	)
	for i, c := range a.Status.Conditions {
		errs = append(errs, kind.NonNegative(at.Child("conditions").Index(i).Child("observedGeneration"), c.ObservedGeneration)...)
	}
	return errs
}

func validateSpec(s *autoscalingv2.HorizontalPodAutoscalerSpec, t options) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateBounds(s, t.least, spec),
		validateTarget(s.ScaleTargetRef, t.target, spec.Child("scaleTargetRef")),
		validateMetrics(s, t.described, spec.Child("metrics")),
		validateBehavior(s.Behavior, spec.Child("behavior")),
	)
}

func validateBounds(s *autoscalingv2.HorizontalPodAutoscalerSpec, least int32, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := s.MinReplicas; n != nil && *n < least {
		errs = kind.ByTag(field.ErrorList{field.Invalid(at.Child("minReplicas"), *n, fmt.Sprintf("must be greater than or equal to %d", least))})
	}
	switch most := at.Child("maxReplicas"); {
	case s.MaxReplicas == 0:
		errs = append(errs, kind.ByTag(field.ErrorList{field.Required(most, "must be set and greater than 0")})...)
	case s.MaxReplicas < 0:
		errs = append(errs, kind.ByTag(field.ErrorList{field.Invalid(most, s.MaxReplicas, "must be greater than or equal to 1")})...)
	}
	if n := s.MinReplicas; n != nil && s.MaxReplicas < *n {
		errs = append(errs, field.Invalid(at.Child("maxReplicas"), s.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	return errs
}

func validateTarget(ref autoscalingv2.CrossVersionObjectReference, allowed groups, at *field.Path) field.ErrorList {
	return slices.Concat(
		kind.Formatted(at.Child("kind"), ref.Kind, content.IsPathSegmentName),
		kind.Formatted(at.Child("name"), ref.Name, content.IsPathSegmentName),
		validateGroup(ref, allowed, at.Child("apiVersion")),
	)
}

func validateGroup(ref autoscalingv2.CrossVersionObjectReference, allowed groups, at *field.Path) field.ErrorList {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	switch {
	case allowed == anything:
		return nil
	case err != nil:
		return field.ErrorList{field.Invalid(at, ref.APIVersion, err.Error())}
	case allowed == named && gv.Group == "":
		return field.ErrorList{field.Invalid(at, ref.APIVersion, "apiVersion must specify API group")}
	}
	return nil
}

func validateBehavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior, at *field.Path) field.ErrorList {
	if b == nil {
		return nil
	}
	return slices.Concat(
		validateScaling(b.ScaleUp, at.Child("scaleUp")),
		validateScaling(b.ScaleDown, at.Child("scaleDown")),
	)
}

func validateScaling(r *autoscalingv2.HPAScalingRules, at *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	if n := r.StabilizationWindowSeconds; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(at.Child("stabilizationWindowSeconds"), *n, "must be greater than or equal to zero"))
	}
	if n := r.StabilizationWindowSeconds; n != nil && *n > longestWindow {
		errs = append(errs, field.Invalid(at.Child("stabilizationWindowSeconds"), *n, fmt.Sprintf("must be less than or equal to %d", longestWindow)))
	}
	errs = append(errs, kind.SupportedIfSet(at.Child("selectPolicy"), r.SelectPolicy,
		autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)...)
	policies := at.Child("policies")
	if len(r.Policies) == 0 {
		errs = append(errs, field.Required(policies, "must specify at least one Policy"))
	}
	for i, p := range r.Policies {
		errs = append(errs, validatePolicy(p, policies.Index(i))...)
	}
	return append(errs, validateTolerance(r.Tolerance, at.Child("tolerance"))...)
}

func validatePolicy(p autoscalingv2.HPAScalingPolicy, at *field.Path) field.ErrorList {
	errs := kind.Supported(at.Child("type"), p.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)
	if p.Value <= 0 {
		errs = append(errs, field.Invalid(at.Child("value"), p.Value, "must be greater than zero"))
	}
	if p.PeriodSeconds <= 0 {
		errs = append(errs, field.Invalid(at.Child("periodSeconds"), p.PeriodSeconds, "must be greater than zero"))
	}
	if p.PeriodSeconds > longestPeriod {
		errs = append(errs, field.Invalid(at.Child("periodSeconds"), p.PeriodSeconds, fmt.Sprintf("must be less than or equal to %d", longestPeriod)))
	}
	return errs
}

func validateTolerance(q *resource.Quantity, at *field.Path) field.ErrorList {
	if q == nil || q.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, q.String(), validation.IsNegativeErrorMsg)}
}
