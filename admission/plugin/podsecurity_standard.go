package plugin

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// noStandards is what a namespace asks for whose labels say nothing.
func noStandards() api.Policy {
	none := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	return api.Policy{Enforce: none, Audit: none, Warn: none}
}

// standardsOf reads the labels of a namespace. For what cannot be read they are
// the strictest where pods are refused, and none where they are warned of.
func standardsOf(namespace *corev1.Namespace) (api.Policy, field.ErrorList) {
	return api.PolicyToEvaluate(namespace.Labels, noStandards())
}

// violation names a standard and all that is against it, "" if nothing is.
func violation(standard api.LevelVersion, template *corev1.PodTemplateSpec) string {
	result := assess(standard, template)
	if result.Allowed {
		return ""
	}
	return fmt.Sprintf("PodSecurity %q: %s", standard.String(), result.ForbiddenDetail())
}

func assess(standard api.LevelVersion, template *corev1.PodTemplateSpec) policy.AggregateCheckResult {
	if standard.Level == api.LevelPrivileged {
		return policy.AggregateCheckResult{Allowed: true}
	}
	return policy.AggregateCheckResults(evaluator().EvaluatePod(standard, &template.ObjectMeta, &template.Spec))
}

// evaluator knows all standards in all their versions. It is made for the first
// namespace that asks for one.
var evaluator = sync.OnceValue(func() policy.Evaluator {
	checks, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic("admission: " + err.Error())
	}
	return checks
})
