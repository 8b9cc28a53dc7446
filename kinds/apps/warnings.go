package apps

import (
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
	return append(warnOfTemplate(&s.Spec.Template), warnOfHistory(s)...)
}

// warnOfChangedStatefulSet brings up the history at every update.
func warnOfChangedStatefulSet(s, old *appsv1.StatefulSet) []string {
	if s.Generation == old.Generation {
		return warnOfHistory(s)
	}
	return warnOfNewStatefulSet(s)
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
