package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// Warnings about workloads with pod templates. The names of StatefulSets and DaemonSets are not
// among them: kube-apiserver validates the former and ignores the latter.

func warningsForHistory(s *appsv1.StatefulSet) []string {
	if limit := s.Spec.RevisionHistoryLimit; limit == nil || *limit >= 0 {
		return nil
	}
	return []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"}
}

func warningsForTemplate(t *corev1.PodTemplateSpec) []string {
	return podspec.TemplateWarnings(t, field.NewPath("spec", "template"))
}
