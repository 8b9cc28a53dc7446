package kind

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
)

// The longest texts of a condition.
const (
	longestReason  = 1 << 10
	longestMessage = 32 << 10
)

// Conditions validates conditions and requires unique types. Without TagValidation the error texts
// are older than those of apimachinery.
func Conditions(features *feature.Set, at *field.Path, list []metav1.Condition) field.ErrorList {
	if features.Enabled(feature.TagValidation) {
		return metavalidation.ValidateConditions(list, at)
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, c := range list {
		at := at.Index(i)
		if seen.Has(c.Type) {
			errs = append(errs, field.Duplicate(at.Child("type"), c.Type))
		}
		seen.Insert(c.Type)
		errs = slices.Concat(errs,
			metavalidation.ValidateLabelName(c.Type, at.Child("type")),
			Supported(at.Child("status"), c.Status, metav1.ConditionFalse, metav1.ConditionTrue, metav1.ConditionUnknown),
			validateCondition(&c, at),
		)
	}
	return errs
}

func validateCondition(c *metav1.Condition, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.ObservedGeneration < 0 {
		errs = append(errs, field.Invalid(at.Child("observedGeneration"), c.ObservedGeneration, "must be greater than or equal to zero"))
	}
	if c.LastTransitionTime.IsZero() {
		errs = append(errs, field.Required(at.Child("lastTransitionTime"), ""))
	}
	errs = append(errs, Formatted(at.Child("reason"), c.Reason, metavalidation.IsValidConditionReason)...)
	if len(c.Reason) > longestReason {
		errs = append(errs, field.TooLong(at.Child("reason"), "", longestReason))
	}
	if len(c.Message) > longestMessage {
		errs = append(errs, field.TooLong(at.Child("message"), "", longestMessage))
	}
	return errs
}
