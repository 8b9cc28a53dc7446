package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateReplicationController(r *corev1.ReplicationController, features *feature.Set) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(r.Spec.Selector) == 0 {
		errs = append(errs, field.Required(spec.Child("selector"), ""))
	}
	if r.Spec.Replicas != nil {
		errs = append(errs, kind.ByTag(validation.ValidateNonnegativeField(int64(*r.Spec.Replicas), spec.Child("replicas")))...)
	}
	errs = append(errs, kind.ByTag(validation.ValidateNonnegativeField(int64(r.Spec.MinReadySeconds), spec.Child("minReadySeconds")))...)
	template := spec.Child("template")
	if r.Spec.Template == nil {
		return append(errs, field.Required(template, ""))
	}
	errs = append(errs, podspec.ValidateSelected(labels.Set(r.Spec.Selector).AsSelector(), r.Spec.Template, template)...)
	errs = append(errs, podspec.ValidateTemplate(r.Spec.Template, features, template)...)
	return append(errs, podspec.ValidateRunsForever(r.Spec.Template, "ReplicationController", template)...)
}

// validateReplicationControllerStatus rejects more ready replicas than replicas, and more available
// ones than ready ones.
func validateReplicationControllerStatus(r, _ *corev1.ReplicationController) field.ErrorList {
	var errs field.ErrorList
	s, at := &r.Status, field.NewPath("status")
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"replicas", int64(s.Replicas)},
		{"fullyLabeledReplicas", int64(s.FullyLabeledReplicas)},
		{"readyReplicas", int64(s.ReadyReplicas)},
		{"availableReplicas", int64(s.AvailableReplicas)},
		{"observedGeneration", s.ObservedGeneration},
	} {
		errs = append(errs, validation.ValidateNonnegativeField(n.value, at.Child(n.name))...)
	}
	atMost := func(name string, n, most int32, of string) {
		if n > most {
			errs = append(errs, field.Invalid(at.Child(name), n, "cannot be greater than "+of))
		}
	}
	atMost("fullyLabeledReplicas", s.FullyLabeledReplicas, s.Replicas, "status.replicas")
	atMost("readyReplicas", s.ReadyReplicas, s.Replicas, "status.replicas")
	atMost("availableReplicas", s.AvailableReplicas, s.Replicas, "status.replicas")
	atMost("availableReplicas", s.AvailableReplicas, s.ReadyReplicas, "readyReplicas")
	return errs
}
