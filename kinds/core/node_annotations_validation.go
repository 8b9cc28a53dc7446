package core

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// validateNodeAnnotations validates the annotations that older releases read.
func validateNodeAnnotations(annotations map[string]string) field.ErrorList {
	at := field.NewPath("metadata", "annotations")
	var errs field.ErrorList
	if text := annotations[corev1.TaintsAnnotationKey]; text != "" {
		errs = append(errs, validateAnnotatedTaints(text, at)...)
	}
	if text := annotations[corev1.PreferAvoidPodsAnnotationKey]; text != "" {
		errs = append(errs, validateAvoidedPods(text, at)...)
	}
	return errs
}

func validateAnnotatedTaints(text string, at *field.Path) field.ErrorList {
	var taints []corev1.Taint
	if err := json.Unmarshal([]byte(text), &taints); err != nil {
		return field.ErrorList{field.Invalid(at, corev1.TaintsAnnotationKey, err.Error())}
	}
	return podspec.ValidateTaints(taints, at.Child(corev1.TaintsAnnotationKey))
}

// validateAvoidedPods requires the controller of each pod.
func validateAvoidedPods(text string, at *field.Path) field.ErrorList {
	var avoided corev1.AvoidPods
	if err := json.Unmarshal([]byte(text), &avoided); err != nil {
		return field.ErrorList{field.Invalid(at.Child("AvoidPods"), corev1.PreferAvoidPodsAnnotationKey, err.Error())}
	}
	var errs field.ErrorList
	for i, entry := range avoided.PreferAvoidPods {
		at := at.Child(corev1.PreferAvoidPodsAnnotationKey).Index(i).Child("PodSignature")
		switch owner := entry.PodSignature.PodController; {
		case owner == nil:
			errs = append(errs, field.Required(at, ""))
		case owner.Controller == nil || !*owner.Controller:
			errs = append(errs, field.Invalid(at.Child("PodController", "Controller"), false, "must point to a controller"))
		}
	}
	return errs
}
