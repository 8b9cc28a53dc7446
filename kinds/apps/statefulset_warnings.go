package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func warningsForNewStatefulSet(s *appsv1.StatefulSet) []string {
	return slices.Concat(warningsForTemplate(&s.Spec.Template), warningsForClaims(s), warningsForHistory(s))
}

// warningsForChangedStatefulSet repeats the warnings about claims and history on every update, with
// another path for the former.
func warningsForChangedStatefulSet(s, old *appsv1.StatefulSet) []string {
	var list []string
	if s.Generation != old.Generation {
		list = warningsForTemplate(&s.Spec.Template)
	}
	return slices.Concat(list, warningsForClaims(s, "Spec"), warningsForHistory(s))
}

func warningsForClaims(s *appsv1.StatefulSet, below ...string) []string {
	var list []string
	for i := range s.Spec.VolumeClaimTemplates {
		at := field.NewPath("spec", "volumeClaimTemplates").Index(i)
		for _, name := range below {
			at = at.Child(name)
		}
		list = append(list, podspec.ClaimWarnings(&s.Spec.VolumeClaimTemplates[i].Spec, at)...)
	}
	return list
}
