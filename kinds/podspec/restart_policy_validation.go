package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	maxRestartRules = 20
	maxExitCodes    = 255
)

// validateRestarts validates the restart policy of a single container.
func validateRestarts(c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	policy := at.Child("restartPolicy")
	switch {
	case c.RestartPolicy != nil:
		errs = kind.Supported(policy, *c.RestartPolicy,
			corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
	case len(c.RestartPolicyRules) > 0:
		errs = append(errs, field.Required(policy, "must specify restartPolicy when restart rules are used"))
	}
	rules := at.Child("restartPolicyRules")
	if len(c.RestartPolicyRules) > maxRestartRules {
		errs = append(errs, field.TooMany(rules, len(c.RestartPolicyRules), maxRestartRules))
	}
	for i := range c.RestartPolicyRules {
		errs = append(errs, validateRestartRule(&c.RestartPolicyRules[i], rules.Index(i))...)
	}
	return errs
}

// validateInitRestarts does not validate rules without a policy.
func validateInitRestarts(c *corev1.Container, at *field.Path) field.ErrorList {
	if c.RestartPolicy == nil && len(c.RestartPolicyRules) > 0 {
		return field.ErrorList{field.Required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used")}
	}
	return validateRestarts(c, at)
}

func validateRestartRule(r *corev1.ContainerRestartRule, at *field.Path) field.ErrorList {
	errs := kind.Supported(at.Child("action"), r.Action,
		corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)
	codes := at.Child("exitCodes")
	if r.ExitCodes == nil {
		return append(errs, field.Required(codes, "must be specified"))
	}
	errs = append(errs, kind.Supported(codes.Child("operator"), r.ExitCodes.Operator,
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
	if n := len(r.ExitCodes.Values); n > maxExitCodes {
		errs = append(errs, field.TooMany(codes.Child("values"), n, maxExitCodes))
	}
	return errs
}

// validateResizePolicy validates the restart of a container on resize. It reports errors without an
// index, as kube-apiserver does.
func validateResizePolicy(s *scope, list []corev1.ContainerResizePolicy, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[corev1.ResourceName]()
	for i, p := range list {
		if taken.Has(p.ResourceName) {
			errs = append(errs, field.Duplicate(at.Index(i), p.ResourceName))
		}
		taken.Insert(p.ResourceName)
		errs = append(errs, kind.OneOf(at, p.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, kind.OneOf(at, p.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)...)
		if s.RestartPolicy == corev1.RestartPolicyNever && p.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(at, p.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}
