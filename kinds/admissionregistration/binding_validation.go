package admissionregistration

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateValidatingBinding(b *admissionregistrationv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		kind.RequiredByTag(kind.Formatted(spec.Child("policyName"), b.Spec.PolicyName, utilvalidation.IsDNS1123Subdomain)),
		validateParamRef(b.Spec.ParamRef, spec.Child("paramRef")),
		validateMatch(b.Spec.MatchResources, spec.Child("matchResources")),
		validateActions(b.Spec.ValidationActions, spec.Child("validationActions")),
	)
}

func validateMutatingBinding(b *admissionregistrationv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		kind.Formatted(spec.Child("policyName"), b.Spec.PolicyName, utilvalidation.IsDNS1123Subdomain),
		validateParamRef(b.Spec.ParamRef, spec.Child("paramRef")),
		validateMatch(b.Spec.MatchResources, spec.Child("matchResources")),
		validateMutable(b.Spec.MatchResources, spec.Child("matchResources")),
	)
}

// validateParamRef requires either the name or the selector of the parameters.
func validateParamRef(ref *admissionregistrationv1.ParamRef, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	const exclusive = "name and selector are mutually exclusive"
	var errs field.ErrorList
	both := ref.Name != "" && ref.Selector != nil
	if ref.Name != "" {
		errs = append(errs, kind.Invalid(at.Child("name"), ref.Name, content.IsPathSegmentName(ref.Name))...)
	}
	if both {
		errs = append(errs, field.Forbidden(at.Child("name"), exclusive))
	}
	errs = append(errs, kind.Selector(at.Child("selector"), ref.Selector)...)
	if both {
		errs = append(errs, field.Forbidden(at.Child("selector"), exclusive))
	}
	if ref.Name == "" && ref.Selector == nil {
		errs = append(errs, field.Required(at, "one of name or selector must be specified"))
	}
	if ref.ParameterNotFoundAction == nil {
		return append(errs, field.Required(at.Child("parameterNotFoundAction"), ""))
	}
	return append(errs, kind.OneOf(at.Child("parameterNotFoundAction"), *ref.ParameterNotFoundAction,
		admissionregistrationv1.DenyAction, admissionregistrationv1.AllowAction)...)
}

func validateActions(actions []admissionregistrationv1.ValidationAction, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[admissionregistrationv1.ValidationAction]()
	for i, action := range actions {
		errs = append(errs, kind.Supported(at.Index(i), action,
			admissionregistrationv1.Audit, admissionregistrationv1.Deny, admissionregistrationv1.Warn)...)
		if seen.Has(action) {
			errs = append(errs, field.Duplicate(at.Index(i), action))
		}
		seen.Insert(action)
	}
	if seen.HasAll(admissionregistrationv1.Deny, admissionregistrationv1.Warn) {
		errs = append(errs, field.Invalid(at, actions, "must not contain both Deny and Warn "+
			"(repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	if len(actions) == 0 {
		errs = kind.ByTag(append(errs, field.Required(at, "")))
	}
	return errs
}
