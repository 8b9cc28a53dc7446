package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func validatePodTemplate(t *corev1.PodTemplate) field.ErrorList {
	return podspec.ValidateTemplate(&t.Template, field.NewPath("template"))
}

func validateReplicationController(r *corev1.ReplicationController) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validation.ValidateNonnegativeField(int64(r.Spec.MinReadySeconds), spec.Child("minReadySeconds"))
	errs = append(errs, metavalidation.ValidateLabels(r.Spec.Selector, spec.Child("selector"))...)
	if len(r.Spec.Selector) == 0 {
		errs = append(errs, field.Required(spec.Child("selector"), ""))
	}
	if r.Spec.Replicas != nil {
		errs = append(errs, validation.ValidateNonnegativeField(int64(*r.Spec.Replicas), spec.Child("replicas"))...)
	}
	template := spec.Child("template")
	if r.Spec.Template == nil {
		return append(errs, field.Required(template, ""))
	}
	errs = append(errs, podspec.ValidateSelected(labels.SelectorFromSet(r.Spec.Selector), r.Spec.Template, template)...)
	errs = append(errs, podspec.ValidateTemplate(r.Spec.Template, template)...)
	return append(errs, podspec.ValidateRunsForever(r.Spec.Template, "ReplicationController", template)...)
}
