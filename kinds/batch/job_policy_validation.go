package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The limits of a job's policies.
const (
	mostRules      = 20
	mostExitCodes  = 255
	mostConditions = 20
	longestIndexes = 64 << 10
)

// validateReplacementPolicy requires Failed for a job with a pod failure policy.
func validateReplacementPolicy(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	if spec.PodFailurePolicy != nil {
		return kind.SupportedIfSet(at, spec.PodReplacementPolicy, batchv1.Failed)
	}
	return kind.SupportedIfSet(at, spec.PodReplacementPolicy, batchv1.Failed, batchv1.TerminatingOrFailed)
}

func validateFailurePolicy(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	if spec.PodFailurePolicy == nil {
		return nil
	}
	var errs field.ErrorList
	rules := spec.PodFailurePolicy.Rules
	if len(rules) > mostRules {
		errs = append(errs, field.TooMany(at.Child("rules"), len(rules), mostRules))
	}
	containers := sets.New[string]()
	for _, c := range slices.Concat(spec.Template.Spec.Containers, spec.Template.Spec.InitContainers) {
		containers.Insert(c.Name)
	}
	for i := range rules {
		rule, at := &rules[i], at.Child("rules").Index(i)
		errs = slices.Concat(errs,
			validateAction(rule.Action, spec.BackoffLimitPerIndex != nil, at.Child("action")),
			validateExitCodes(rule.OnExitCodes, containers, at.Child("onExitCodes")),
			validateConditions(rule.OnPodConditions, at.Child("onPodConditions")),
			validateRuleTrigger(rule, at),
		)
	}
	return errs
}

func validateAction(action batchv1.PodFailurePolicyAction, perIndex bool, at *field.Path) field.ErrorList {
	if action == batchv1.PodFailurePolicyActionFailIndex && !perIndex {
		return field.ErrorList{field.Invalid(at, action, "requires the backoffLimitPerIndex to be set")}
	}
	return requireSupported(at, action, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore)
}

// requireSupported requires one of a few words. The error of an empty value lists them too.
func requireSupported[T ~string](at *field.Path, value T, words ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, fmt.Sprintf("valid values: %q", words))}
	}
	return kind.Supported(at, value, words...)
}

// validateRuleTrigger requires either exit codes or conditions.
func validateRuleTrigger(rule *batchv1.PodFailurePolicyRule, at *field.Path) field.ErrorList {
	switch {
	case rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0:
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")}
	case rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0:
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")}
	}
	return nil
}

func validateConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(patterns) > mostConditions {
		errs = append(errs, field.TooMany(at, len(patterns), mostConditions))
	}
	for i, p := range patterns {
		at := at.Index(i)
		errs = append(errs, kind.Invalid(at.Child("type"), string(p.Type), utilvalidation.IsQualifiedName(string(p.Type)))...)
		errs = append(errs, requireSupported(at.Child("status"), p.Status, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)...)
	}
	return errs
}

func validateExitCodes(codes *batchv1.PodFailurePolicyOnExitCodesRequirement, containers sets.Set[string], at *field.Path) field.ErrorList {
	if codes == nil {
		return nil
	}
	errs := requireSupported(at.Child("operator"), codes.Operator, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	if c := codes.ContainerName; c != nil && !containers.Has(*c) {
		errs = append(errs, field.Invalid(at.Child("containerName"), *c, "must be one of the container or initContainer names in the pod template"))
	}
	values := at.Child("values")
	switch n := len(codes.Values); {
	case n == 0:
		errs = append(errs, field.Invalid(values, codes.Values, "at least one value is required"))
	case n > mostExitCodes:
		errs = append(errs, field.TooMany(values, n, mostExitCodes))
	}
	seen := sets.New[int32]()
	for i, code := range codes.Values {
		if code == 0 && codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			errs = append(errs, field.Invalid(values.Index(i), code, "must not be 0 for the In operator"))
		}
		if seen.Has(code) {
			errs = append(errs, field.Duplicate(values.Index(i), code))
		}
		seen.Insert(code)
	}
	if !slices.IsSorted(codes.Values) {
		errs = append(errs, field.Invalid(values, codes.Values, "must be ordered"))
	}
	return errs
}

func validateSuccessPolicy(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch {
	case spec.SuccessPolicy == nil:
		return nil
	case !isIndexed(spec):
		return field.ErrorList{field.Invalid(at, kind.GoJSON(*spec.SuccessPolicy), needsIndexed)}
	}
	var errs field.ErrorList
	rules, at := spec.SuccessPolicy.Rules, at.Child("rules")
	switch n := len(rules); {
	case n == 0:
		errs = append(errs, field.Required(at, "at least one rules must be specified when the successPolicy is specified"))
	case n > mostRules:
		errs = append(errs, field.TooMany(at, n, mostRules))
	}
	for i := range rules {
		errs = append(errs, validateSuccessRule(&rules[i], spec.Completions, at.Index(i))...)
	}
	return errs
}

// validateSuccessRule skips the checks against completions for a job without them: that is reported
// elsewhere.
func validateSuccessRule(rule *batchv1.SuccessPolicyRule, completions *int32, at *field.Path) field.ErrorList {
	if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
		return field.ErrorList{field.Required(at, "at least one of succeededCount or succeededIndexes must be specified")}
	}
	if completions == nil {
		return nil
	}
	var errs field.ErrorList
	var total int32
	if list := rule.SucceededIndexes; list != nil {
		at := at.Child("succeededIndexes")
		if len(*list) > longestIndexes {
			errs = append(errs, field.TooLong(at, "", longestIndexes))
		}
		indexes, err := parseIndexes(*list, *completions)
		if err != nil {
			errs = append(errs, field.Invalid(at, *list, "error parsing succeededIndexes: "+err.Error()))
		}
		total = indexes.count()
	}
	count, at := rule.SucceededCount, at.Child("succeededCount")
	errs = append(errs, kind.NonNegative(at, count)...)
	if count != nil && *count > *completions {
		errs = append(errs, field.Invalid(at, *count,
			fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", *completions)))
	}
	if count != nil && rule.SucceededIndexes != nil && *count > total {
		errs = append(errs, field.Invalid(at, *count,
			fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
	}
	return errs
}
