package policy

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func podDisruptionBudgets(features *feature.Set) *registry.Resource {
	return kind.Definition[*policyv1.PodDisruptionBudget]{
		GroupVersion:          policyv1.SchemeGroupVersion,
		Object:                &policyv1.PodDisruptionBudget{},
		List:                  &policyv1.PodDisruptionBudgetList{},
		Resource:              "poddisruptionbudgets",
		UnqualifiedFinalizers: true,
		ShortNames:            []string{"pdb"},
		Namespaced:            true,
		Generation:            true,
		Status:                true,
		ValidateName:          path.ValidatePathSegmentName,
		MetadataLast:          true,
		Validate:              validateBudget,
		ValidateStatusUpdate:  func(b, _ *policyv1.PodDisruptionBudget) field.ErrorList { return validateBudgetStatus(b, features) },
		Columns: kind.StandardColumns(
			kind.TextColumn("Min Available", "The minimum number of pods that must be available.",
				func(b *policyv1.PodDisruptionBudget) any { return boundCell(b.Spec.MinAvailable) }),
			kind.TextColumn("Max Unavailable", "The maximum number of pods that may be unavailable.",
				func(b *policyv1.PodDisruptionBudget) any { return boundCell(b.Spec.MaxUnavailable) }),
			kind.IntegerColumn("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.",
				func(b *policyv1.PodDisruptionBudget) any { return int64(b.Status.DisruptionsAllowed) }),
		),
	}.Build(features)
}

func boundCell(bound *intstr.IntOrString) string {
	if bound == nil {
		return "N/A"
	}
	return bound.String()
}
