package policy

import (
	"errors"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newBudget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromString("90%"))}}
}

func TestMetadataOfInvalidBudgetsIsIgnored(t *testing.T) {
	e := registrytest.New(t, nil, podDisruptionBudgets(feature.Default()))
	for name, change := range map[string]func(b *policyv1.PodDisruptionBudget){
		"metadata.name":       func(*policyv1.PodDisruptionBudget) {},
		"spec.maxUnavailable": func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = new(intstr.FromInt32(-1)) },
	} {
		b := newBudget()
		b.Namespace = "x"
		change(b)
		_, err := e.Store("poddisruptionbudgets.policy").Create(t.Context(), registry.CreateRequest{Namespace: "x", Object: b})
		var status apierrors.APIStatus
		if !errors.As(err, &status) || len(status.Status().Details.Causes) != 1 || status.Status().Details.Causes[0].Field != name {
			t.Errorf("%s: got %v", name, err)
		}
	}
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
