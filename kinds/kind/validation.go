package kind

import (
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
)

// Supported requires one of the given words. The empty string is unsupported. The message lists
// the words in the given order.
func Supported[T ~string](at *field.Path, value T, words ...T) field.ErrorList {
	if slices.Contains(words, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, words)}
}

// SupportedIfSet accepts nil, and validates other values like Supported.
func SupportedIfSet[T ~string](at *field.Path, value *T, words ...T) field.ErrorList {
	if value == nil {
		return nil
	}
	return Supported(at, *value, words...)
}

// Formatted requires a non-empty string for which form returns no errors.
func Formatted(at *field.Path, value string, form func(string) []string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return Invalid(at, value, form(value))
}

// NonNegative rejects a number less than 0. It accepts nil.
func NonNegative[T int32 | int64](at *field.Path, n *T) field.ErrorList {
	if n == nil {
		return nil
	}
	return validation.ValidateNonnegativeField(int64(*n), at)
}

// Immutable requires equal values. The error shows the new one in the notation of GoJSON.
func Immutable(at *field.Path, now, was any) field.ErrorList {
	if Same(now, was) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, GoJSON(now), validation.FieldImmutableErrorMsg)}
}

// ImmutableByTag is Immutable for a field whose type has a tag for it. The error has no value, but
// older releases show the new one.
func ImmutableByTag(features *feature.Set, at *field.Path, now, was any) field.ErrorList {
	errs := Immutable(at, now, was)
	if features.Enabled(feature.TagValidation) {
		for _, err := range errs {
			err.BadValue = nil
		}
	}
	return ByTag(errs)
}

// Selector validates a label selector. It accepts nil.
func Selector(at *field.Path, s *metav1.LabelSelector) field.ErrorList {
	return metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, at)
}

// IntOrPercent requires a number that is not negative, or a percentage.
func IntOrPercent(at *field.Path, n *intstr.IntOrString) field.ErrorList {
	switch {
	case n == nil:
		return nil
	case n.Type == intstr.Int:
		return NonNegative(at, &n.IntVal)
	}
	return Invalid(at, n, utilvalidation.IsValidPercent(n.StrVal))
}

// AtMost100Percent rejects percentages greater than 100%.
func AtMost100Percent(at *field.Path, n *intstr.IntOrString) field.ErrorList {
	if n == nil || n.Type == intstr.Int || len(utilvalidation.IsValidPercent(n.StrVal)) > 0 {
		return nil
	}
	if percent, err := intstr.GetScaledValueFromIntOrPercent(n, 100, false); err == nil && percent <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, "must not be greater than 100%")}
}

// OneOf requires one of the given words. For an empty value the error is Required. The message
// lists the words in the given order.
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

// Required requires a string that is not empty.
func Required(at *field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

// Invalid returns an error for each message about a value.
func Invalid(at *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(at, value, message))
	}
	return errs
}

const longestDriverName = 63

// DriverName validates the required name of a driver, a DNS subdomain in lower or upper case, with
// the errors of the tags of the API types.
func DriverName(at *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := Invalid(at, name, content.IsDNS1123SubdomainCaseless(name))
	if utf8.RuneCountInString(name) > longestDriverName {
		errs = append(errs, field.TooLongCharacters(at, "", longestDriverName))
	}
	return errs
}
