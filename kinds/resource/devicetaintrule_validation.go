package resource

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateTaintRule(rule *resourcev1.DeviceTaintRule) field.ErrorList {
	spec := field.NewPath("spec")
	return append(validateTaintSelector(rule.Spec.DeviceSelector, spec.Child("deviceSelector")),
		validateTaint(rule.Spec.Taint, spec.Child("taint"))...)
}

// validateTaintRuleUpdate accepts an unchanged effect of a later release.
func validateTaintRuleUpdate(rule, old *resourcev1.DeviceTaintRule) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateTaintSelector(rule.Spec.DeviceSelector, spec.Child("deviceSelector"))
	if rule.Spec.Taint.Effect == old.Spec.Taint.Effect {
		return append(errs, validateTaintLabel(rule.Spec.Taint, spec.Child("taint"))...)
	}
	return append(errs, validateTaint(rule.Spec.Taint, spec.Child("taint"))...)
}

func validateTaintSelector(s *resourcev1.DeviceTaintSelector, at *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if s.Driver != nil {
		errs = append(errs, validateDriverName(*s.Driver, at.Child("driver"))...)
	}
	if s.Pool != nil {
		errs = append(errs, validatePoolName(*s.Pool, at.Child("pool"))...)
	}
	if s.Device != nil {
		errs = append(errs, dnsLabel(*s.Device, at.Child("device"))...)
	}
	return errs
}

func validateTaintRuleStatus(rule, _ *resourcev1.DeviceTaintRule) field.ErrorList {
	at := field.NewPath("status", "conditions")
	var most field.ErrorList
	if n := len(rule.Status.Conditions); n > resourcev1.DeviceTaintRuleStatusMaxConditions {
		most = field.ErrorList{field.TooMany(at, n, resourcev1.DeviceTaintRuleStatusMaxConditions)}
	}
	return slices.Concat(metavalidation.ValidateConditions(rule.Status.Conditions, at), most)
}
