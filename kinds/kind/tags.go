package kind

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// tagOrigin marks the errors of ByTag.
const tagOrigin = "tag"

// ByTag marks the errors of a rule that a tag of the API type states. With TagValidation they come
// after all other errors, and missing and forbidden fields have no further explanation.
func ByTag(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		err.Origin = tagOrigin
	}
	return errs
}

// RequiredByTag is ByTag for the errors of a missing field: the tag requires the field, and other
// rules validate its value.
func RequiredByTag(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		if err.Type == field.ErrorTypeRequired {
			err.Origin = tagOrigin
		}
	}
	return errs
}

// NamedByTag is a validation.ValidateNameFunc for kinds whose types have a tag for the name, see
// ValidateTaggedName. It accepts all names and prefixes.
func NamedByTag(string, bool) []string { return nil }

// ValidateTaggedName requires the name of an object to be a DNS subdomain, by a tag of its type. An
// empty name is an error elsewhere.
func ValidateTaggedName(obj metav1.Object) field.ErrorList {
	name := obj.GetName()
	if name == "" {
		return nil
	}
	return ByTag(validate.LongName(context.Background(), operation.Operation{}, field.NewPath("metadata", "name"), &name, nil))
}

// arrangeErrors sorts the errors of tags and removes errors with the same text. Older releases
// report some errors twice.
func arrangeErrors(errs field.ErrorList) field.ErrorList {
	sortTags(errs)
	seen := sets.New[string]()
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		text := err.Error()
		defer seen.Insert(text)
		return seen.Has(text)
	})
}

// sortTags moves the errors of tags behind the others.
func sortTags(errs field.ErrorList) {
	for _, err := range errs {
		if err.Origin == tagOrigin && (err.Type == field.ErrorTypeRequired || err.Type == field.ErrorTypeForbidden) {
			err.Detail = ""
		}
	}
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		switch aTag, bTag := a.Origin == tagOrigin, b.Origin == tagOrigin; {
		case aTag == bTag:
			return 0
		case aTag:
			return 1
		default:
			return -1
		}
	})
}
