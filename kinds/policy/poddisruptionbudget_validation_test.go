package policy

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newBudget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromString("90%"))}}
}

func TestBudgets(t *testing.T) {
	type budget = policyv1.PodDisruptionBudget
	check := registrytest.Rules(t, newBudget, validateBudget)
	most := func(bound intstr.IntOrString) func(*budget) {
		return func(b *budget) { b.Spec.MaxUnavailable = &bound }
	}
	check("no bound", func(b *budget) { b.Spec.MaxUnavailable = nil })
	check("a number", most(intstr.FromInt32(1)))
	check("only one bound is allowed", func(b *budget) { b.Spec.MinAvailable = new(intstr.FromInt32(1)) },
		`spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"90%","UnhealthyPodEvictionPolicy":null}: `+
			`minAvailable and maxUnavailable cannot be both set`)
	check("a bound is a number or a percentage", most(intstr.FromString("all")),
		`spec.maxUnavailable: Invalid value: "all": a valid percent string must be a numeric string followed by an ending '%' `+
			`(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`)
	check("percentages are at most 100%", most(intstr.FromString("101%")), `spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%`)
	check("numbers are not negative", most(intstr.FromInt32(-1)), "spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0")
	check("unhealthy pod eviction policies are known", func(b *budget) { b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.UnhealthyPodEvictionPolicyType("x")) },
		`spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"`)
	registrytest.Rules(t, newBudget, func(b *budget) field.ErrorList { return validateBudgetStatus(b, feature.Default()) })(
		"what is counted is", func(b *budget) { b.Status.DisruptionsAllowed, b.Status.ExpectedPods = -1, -1 },
		"status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0",
		"status.expectedPods: Invalid value: -1: must be greater than or equal to 0")
}
