package kind

import "k8s.io/apimachinery/pkg/util/validation/field"

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
