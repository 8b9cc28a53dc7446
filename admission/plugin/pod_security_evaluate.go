package plugin

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// violation describes the violations of a standard, "" if there are none.
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

// evaluator evaluates all standards in all versions. The process shares it and creates it on first
// use.
var evaluator = sync.OnceValue(func() policy.Evaluator {
	checks, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic("admission: " + err.Error())
	}
	return checks
})
