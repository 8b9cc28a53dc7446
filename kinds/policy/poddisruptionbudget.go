package policy

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func podDisruptionBudgets() *registry.Resource {
	return kind.Definition{
		GroupVersion: policyv1.SchemeGroupVersion,
		Object:       &policyv1.PodDisruptionBudget{},
		List:         &policyv1.PodDisruptionBudgetList{},
		Resource:     "poddisruptionbudgets",
		ShortNames:   []string{"pdb"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{ValidateName: path.ValidatePathSegmentName, Validate: kind.CheckCreate(validateBudget)},
			Update: registry.UpdateStrategy{Validate: kind.CheckAgain(validateBudget)},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateBudgetStatus)},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Min Available", "string", "The minimum number of pods that must be available."),
				kind.Column("Max Unavailable", "string", "The maximum number of pods that may be unavailable."),
				kind.Column("Allowed Disruptions", "integer", "Calculated number of pods that may be disrupted at this time."),
				kind.AgeColumn(),
			},
			Row: kind.Row(func(b *policyv1.PodDisruptionBudget) []any {
				return []any{
					b.Name, boundCell(b.Spec.MinAvailable), boundCell(b.Spec.MaxUnavailable),
					int64(b.Status.DisruptionsAllowed), kind.Age(b.CreationTimestamp),
				}
			}),
		},
	}.Build()
}

func boundCell(bound *intstr.IntOrString) string {
	if bound == nil {
		return "N/A"
	}
	return bound.String()
}
