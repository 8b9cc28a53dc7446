package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestBudgets(t *testing.T) {
	one, most, all := intstr.FromInt32(1), intstr.FromString("90%"), intstr.FromString("all")
	for _, tc := range []struct {
		rule string
		spec policyv1.PodDisruptionBudgetSpec
		want []string
	}{
		{"no bound is fine", policyv1.PodDisruptionBudgetSpec{}, nil},
		{"a number is a bound", policyv1.PodDisruptionBudgetSpec{MinAvailable: &one}, nil},
		{"and so is a percentage", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &most}, nil},
		{"two bounds are not", policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, MaxUnavailable: &most}, []string{
			`spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"90%","UnhealthyPodEvictionPolicy":null}: ` +
				`minAvailable and maxUnavailable cannot be both set`,
		}},
		{"a word is none", policyv1.PodDisruptionBudgetSpec{MinAvailable: &all}, []string{
			`spec.minAvailable: Invalid value: "all": a valid percent string must be a numeric string followed by an ending '%' ` +
				`(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			var got []string
			for _, err := range validateBudget(&policyv1.PodDisruptionBudget{Spec: tc.spec}) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
