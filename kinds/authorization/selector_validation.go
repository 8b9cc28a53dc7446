package authorization

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateSelectors validates the selectors of a list or a watch. Unknown operators come from newer
// clients and are not errors.
func validateSelectors(r *authorizationv1.ResourceAttributes) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	at := field.NewPath("spec.resourceAttributes")
	if s := r.FieldSelector; s != nil {
		at := at.Child("fieldSelector")
		errs = append(errs, validateForm(s.RawSelector, len(s.Requirements), at)...)
		options := metavalidation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		for i, requirement := range s.Requirements {
			errs = append(errs, metavalidation.ValidateFieldSelectorRequirement(requirement, options, at.Child("requirements").Index(i))...)
		}
	}
	if s := r.LabelSelector; s != nil {
		at := at.Child("labelSelector")
		errs = append(errs, validateForm(s.RawSelector, len(s.Requirements), at)...)
		options := metavalidation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		for i, requirement := range s.Requirements {
			errs = append(errs, metavalidation.ValidateLabelSelectorRequirement(requirement, options, at.Child("requirements").Index(i))...)
		}
	}
	return errs
}

// validateForm requires a selector as a string or as a list of requirements, not both.
func validateForm(raw string, requirements int, at *field.Path) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(at.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(at.Child("requirements"), fmt.Sprintf("when %s is specified, requirements or rawSelector is required", at))}
	}
	return nil
}

// ignored returns an error that names the parts of the selectors that the decision ignores.
func ignored(r *authorizationv1.ResourceAttributes) []string {
	if r == nil {
		return nil
	}
	var texts []string
	tell := func(name string, understood, not int) {
		switch {
		case not > 0 && understood > 0:
			texts = append(texts, "spec.resourceAttributes."+name+" partially ignored due to parse error")
		case not > 0:
			texts = append(texts, "spec.resourceAttributes."+name+" ignored due to parse error")
		}
	}
	if s := r.FieldSelector; s != nil && s.RawSelector != "" {
		_, err := fields.ParseSelector(s.RawSelector)
		tell("fieldSelector", 0, count(err != nil))
	} else if s != nil {
		errs := 0
		for _, requirement := range s.Requirements {
			errs += count(!isComparison(requirement))
		}
		tell("fieldSelector", len(s.Requirements)-errs, errs)
	}
	if s := r.LabelSelector; s != nil && s.RawSelector != "" {
		_, err := labels.Parse(s.RawSelector)
		tell("labelSelector", 0, count(err != nil))
	} else if s != nil {
		errs := 0
		for _, requirement := range s.Requirements {
			errs += count(!isRequirement(requirement))
		}
		tell("labelSelector", len(s.Requirements)-errs, errs)
	}
	return texts
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// isComparison reports whether a requirement compares a field with a single value.
func isComparison(r metav1.FieldSelectorRequirement) bool {
	return len(r.Values) == 1 && (r.Operator == metav1.FieldSelectorOpIn || r.Operator == metav1.FieldSelectorOpNotIn)
}

func isRequirement(r metav1.LabelSelectorRequirement) bool {
	operator, ok := map[metav1.LabelSelectorOperator]selection.Operator{
		metav1.LabelSelectorOpIn:           selection.In,
		metav1.LabelSelectorOpNotIn:        selection.NotIn,
		metav1.LabelSelectorOpExists:       selection.Exists,
		metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
	}[r.Operator]
	if !ok {
		return false
	}
	_, err := labels.NewRequirement(r.Key, operator, r.Values)
	return err == nil
}
