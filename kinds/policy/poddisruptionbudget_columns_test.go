package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestBudgetRow(t *testing.T) {
	row := func(b *policyv1.PodDisruptionBudget) []any {
		cells := registrytest.Cells(podDisruptionBudgets(feature.Default()), b)
		return cells
	}
	if diff := cmp.Diff([]any{"", "N/A", "90%", int64(0), "<unknown>"}, row(newBudget())); diff != "" {
		t.Errorf("so many may go (-want +got):\n%s", diff)
	}
	least := &policyv1.PodDisruptionBudget{
		Spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
	}
	if diff := cmp.Diff([]any{"", "2", "N/A", int64(1), "<unknown>"}, row(least)); diff != "" {
		t.Errorf("so many must stay (-want +got):\n%s", diff)
	}
}
