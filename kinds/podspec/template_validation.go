package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
)

// ValidateTemplate validates a pod template after defaulting.
func ValidateTemplate(t *corev1.PodTemplateSpec, features *feature.Set, at *field.Path) field.ErrorList {
	errs := ValidateTemplateMeta(t, at)
	errs = append(errs, Validate(&t.Spec, features, at.Child("spec"))...)
	errs = append(errs, ValidateProfiles(t.Annotations, &t.Spec, at.Child("spec"))...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(at.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}

// ValidateTemplateMeta validates the template's metadata only.
func ValidateTemplateMeta(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(t.Labels, at.Child("labels"))
	errs = append(errs, validation.ValidateAnnotations(t.Annotations, at.Child("annotations"))...)
	return append(errs, ValidateAnnotations(t.Annotations, &t.Spec, at.Child("annotations"))...)
}

// ValidateSelected requires a selector that matches the labels of the template.
func ValidateSelected(selector labels.Selector, t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	if selector.Empty() || selector.Matches(labels.Set(t.Labels)) {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`")}
}

// ValidateSelector validates the selector of a workload and returns it in parsed form; false: it is
// malformed.
func ValidateSelector(s *metav1.LabelSelector, workload string, at *field.Path) (labels.Selector, field.ErrorList, bool) {
	var errs field.ErrorList
	if s == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, at)
		if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(at, s, "empty selector is invalid for "+workload))
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return selector, errs, err == nil
}

// ValidateRunsForever validates the templates of workloads that replace pods that end.
func ValidateRunsForever(t *corev1.PodTemplateSpec, workload string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec := at.Child("spec")
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(spec.Child("restartPolicy"), t.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(spec.Child("activeDeadlineSeconds"), "activeDeadlineSeconds in "+workload+" is not Supported"))
	}
	return errs
}
