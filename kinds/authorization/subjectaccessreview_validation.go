package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateSpec(spec *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := validateAttributes(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), spec.User,
			"at least one of user or group must be specified"))
	}
	return append(errs, validateSelectors(spec.ResourceAttributes)...)
}

func validateAttributes(resource *authorizationv1.ResourceAttributes, other *authorizationv1.NonResourceAttributes) field.ErrorList {
	if (resource == nil) != (other == nil) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec"), kind.GoJSON(other),
		"exactly one of nonResourceAttributes or resourceAttributes must be specified")}
}

func validateLocal(review *authorizationv1.LocalSubjectAccessReview) field.ErrorList {
	errs := validateSpec(&review.Spec)
	errs = append(errs, validateMetadata(review.ObjectMeta, review.Namespace, "must be empty except for namespace")...)
	if resource := review.Spec.ResourceAttributes; resource != nil && resource.Namespace != review.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("spec.resourceAttributes.namespace"),
			resource.Namespace, "must match metadata.namespace"))
	}
	if other := review.Spec.NonResourceAttributes; other != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec.nonResourceAttributes"),
			kind.GoJSON(other), "disallowed on this kind of request"))
	}
	return errs
}

// validateMetadata ignores managedFields, which the server sets itself.
func validateMetadata(metadata metav1.ObjectMeta, namespace, detail string) field.ErrorList {
	if equality.Semantic.DeepEqual(metav1.ObjectMeta{Namespace: namespace, ManagedFields: metadata.ManagedFields}, metadata) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), metadata, detail)}
}
