package kind

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Supported wants one of a few words, and takes the empty one for a word that
// is not among them. The message lists them in the order given.
func Supported[T ~string](at *field.Path, value T, words ...T) field.ErrorList {
	if slices.Contains(words, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, words)}
}

// SupportedIfSet leaves it to the client whether there is a word at all.
func SupportedIfSet[T ~string](at *field.Path, value *T, words ...T) field.ErrorList {
	if value == nil {
		return nil
	}
	return Supported(at, *value, words...)
}

// Named wants a text that is not empty, and of a form: form returns what is
// wrong with it.
func Named(at *field.Path, value string, form func(string) []string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return Invalid(at, value, form(value))
}

// NonNegative wants a number, where there is one, that is no less than 0.
func NonNegative[T int32 | int64](at *field.Path, n *T) field.ErrorList {
	if n == nil {
		return nil
	}
	return validation.ValidateNonnegativeField(int64(*n), at)
}

// Immutable wants a field to stay as it was. What it shows of it is spelled as
// GoJSON spells it.
func Immutable(at *field.Path, now, was any) field.ErrorList {
	if equality.Semantic.DeepEqual(now, was) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, GoJSON(now), validation.FieldImmutableErrorMsg)}
}

// Selector looks at a label selector; nil is one.
func Selector(at *field.Path, s *metav1.LabelSelector) field.ErrorList {
	return metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, at)
}

// IntOrPercent wants a number that is not negative, or a percentage.
func IntOrPercent(at *field.Path, n *intstr.IntOrString) field.ErrorList {
	switch {
	case n == nil:
		return nil
	case n.Type == intstr.Int:
		return NonNegative(at, &n.IntVal)
	}
	return Invalid(at, n, utilvalidation.IsValidPercent(n.StrVal))
}

// AtMost100Percent holds for percentages only.
func AtMost100Percent(at *field.Path, n *intstr.IntOrString) field.ErrorList {
	if n == nil || n.Type == intstr.Int || len(utilvalidation.IsValidPercent(n.StrVal)) > 0 {
		return nil
	}
	if percent, err := intstr.GetScaledValueFromIntOrPercent(n, 100, false); err == nil && percent <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, "must not be greater than 100%")}
}

// OneOf wants one of a few words. The message lists them in the order given.
func OneOf[T ~string](at *field.Path, value T, words ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	for _, word := range words {
		if value == word {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(at, value, words)}
}

// Needed wants a text that is not empty.
func Needed(at *field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

// Invalid makes a fault of each message about a value.
func Invalid(at *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(at, value, message))
	}
	return errs
}
