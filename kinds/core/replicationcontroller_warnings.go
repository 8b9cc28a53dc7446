package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func warningsForNewReplicationController(r *corev1.ReplicationController) []string {
	return append(kind.WarningsForName(r.Name), warningsForReplicationController(r)...)
}

func warningsForReplicationController(r *corev1.ReplicationController) []string {
	return podspec.TemplateWarnings(r.Spec.Template, field.NewPath("spec", "template"))
}

// warningsForReplicationControllerUpdate returns the warnings about the old template, as
// kube-apiserver does.
func warningsForReplicationControllerUpdate(r, old *corev1.ReplicationController) []string {
	if r.Generation == old.Generation {
		return nil
	}
	return warningsForReplicationController(old)
}
