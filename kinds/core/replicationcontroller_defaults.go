package core

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultReplicationController sets the selector and the labels from the labels of the template.
func defaultReplicationController(r *corev1.ReplicationController) {
	kind.SetDefaultPointer(&r.Spec.Replicas, 1)
	if r.Spec.Template == nil {
		return
	}
	podspec.DefaultTemplate(r.Spec.Template)
	labels := r.Spec.Template.Labels
	if len(r.Spec.Selector) == 0 && labels != nil {
		r.Spec.Selector = maps.Clone(labels)
	}
	if len(r.Labels) == 0 && labels != nil {
		r.Labels = maps.Clone(labels)
	}
}
