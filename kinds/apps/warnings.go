package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// What clients are warned of. The names of StatefulSets and DaemonSets are none
// of it: kube-apiserver validates the former, and says nothing of the latter.

func warnOfNewDeployment(d *appsv1.Deployment) []string {
	return append(kind.WarnOfName(d.Name), warnOfDeployment(d)...)
}

func warnOfDeployment(d *appsv1.Deployment) []string { return warnOfTemplate(&d.Spec.Template) }

func warnOfNewReplicaSet(r *appsv1.ReplicaSet) []string {
	return append(kind.WarnOfName(r.Name), warnOfReplicaSet(r)...)
}

func warnOfReplicaSet(r *appsv1.ReplicaSet) []string { return warnOfTemplate(&r.Spec.Template) }

func warnOfDaemonSet(d *appsv1.DaemonSet) []string { return warnOfTemplate(&d.Spec.Template) }

func warnOfNewStatefulSet(s *appsv1.StatefulSet) []string {
	return slices.Concat(warnOfTemplate(&s.Spec.Template), warnOfClaims(s), warnOfHistory(s))
}

// warnOfChangedStatefulSet brings up claims and history at every update, and
// has another path for the former.
func warnOfChangedStatefulSet(s, old *appsv1.StatefulSet) []string {
	var list []string
	if s.Generation != old.Generation {
		list = warnOfTemplate(&s.Spec.Template)
	}
	return slices.Concat(list, warnOfClaims(s, "Spec"), warnOfHistory(s))
}

func warnOfClaims(s *appsv1.StatefulSet, below ...string) []string {
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

func warnOfHistory(s *appsv1.StatefulSet) []string {
	if limit := s.Spec.RevisionHistoryLimit; limit == nil || *limit >= 0 {
		return nil
	}
	return []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"}
}

func warnOfTemplate(t *corev1.PodTemplateSpec) []string {
	return podspec.TemplateWarnings(t, field.NewPath("spec", "template"))
}
