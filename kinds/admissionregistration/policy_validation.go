package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	mostAnnotations          = 20
	longestAnnotation        = 5 << 10
	needsOne                 = "validations or auditAnnotations must contain at least one item"
	expressionIsNotSpecified = "expression is not specified"
)

func validateValidatingPolicy(p *admissionregistrationv1.ValidatingAdmissionPolicy) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateFailurePolicy(p.Spec.FailurePolicy, spec.Child("failurePolicy")),
		validateParamKind(p.Spec.ParamKind, spec.Child("paramKind")),
		validateConstraints(p.Spec.MatchConstraints, spec.Child("matchConstraints")),
		validateMatchConditions(p.Spec.MatchConditions, spec.Child("matchConditions")),
		validateVariables(p.Spec.Variables, spec.Child("variables")),
		validateValidations(p, spec),
		validateAuditAnnotations(p, spec.Child("auditAnnotations")),
	)
}

func validateMutatingPolicy(p *admissionregistrationv1.MutatingAdmissionPolicy) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateFailurePolicy(p.Spec.FailurePolicy, spec.Child("failurePolicy")),
		validateParamKind(p.Spec.ParamKind, spec.Child("paramKind")),
		validateConstraints(p.Spec.MatchConstraints, spec.Child("matchConstraints")),
		validateMutable(p.Spec.MatchConstraints, spec.Child("matchConstraints")),
		validateMatchConditions(p.Spec.MatchConditions, spec.Child("matchConditions")),
		validateVariables(p.Spec.Variables, spec.Child("variables")),
		validateMutations(p.Spec.Mutations, spec.Child("mutations")),
		kind.OneOf(spec.Child("reinvocationPolicy"), p.Spec.ReinvocationPolicy,
			admissionregistrationv1.IfNeededReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy),
	)
}

func validateFailurePolicy(p *admissionregistrationv1.FailurePolicyType, at *field.Path) field.ErrorList {
	if p == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	return kind.Supported(at, *p, admissionregistrationv1.Fail, admissionregistrationv1.Ignore)
}

func validateParamKind(k *admissionregistrationv1.ParamKind, at *field.Path) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := validateVersion(k.APIVersion, at.Child("apiVersion"))
	if k.Kind == "" {
		return append(errs, field.Required(at.Child("kind"), ""))
	}
	if messages := utilvalidation.IsDNS1035Label(strings.ToLower(k.Kind)); len(messages) > 0 {
		errs = append(errs, field.Invalid(at.Child("kind"), k.Kind,
			"may have mixed case, but should otherwise match: "+strings.Join(messages, ",")))
	}
	return errs
}

func validateVersion(apiVersion string, at *field.Path) field.ErrorList {
	if apiVersion == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	switch {
	case !ok:
		group, version = "", apiVersion
	case strings.Contains(version, "/"):
		return field.ErrorList{field.Invalid(at, apiVersion, "unexpected GroupVersion string: "+apiVersion)}
	}
	var errs field.ErrorList
	if group != "" {
		errs = append(errs, joinMessages(at, group, utilvalidation.IsDNS1123Subdomain(group))...)
	}
	if version == "" {
		return append(errs, field.Invalid(at, apiVersion, "version must be specified"))
	}
	return append(errs, joinMessages(at, version, utilvalidation.IsDNS1035Label(version))...)
}

// joinMessages returns one error with all messages.
func joinMessages(at *field.Path, value string, messages []string) field.ErrorList {
	if len(messages) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, value, strings.Join(messages, ","))}
}

// validateConstraints requires at least one rule: the types of the matched objects follow from the
// rules.
func validateConstraints(m *admissionregistrationv1.MatchResources, at *field.Path) field.ErrorList {
	if m == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := validateMatch(m, at)
	if len(m.ResourceRules) == 0 {
		errs = append(errs, field.Required(at.Child("resourceRules"), ""))
	}
	return errs
}

// validateMutable requires operations that have an object to change.
func validateMutable(m *admissionregistrationv1.MatchResources, at *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	var errs field.ErrorList
	for _, rule := range m.ResourceRules {
		for _, operation := range rule.Operations {
			errs = append(errs, kind.Supported(at.Child("resourceRules", "operations"), operation, admissionregistrationv1.OperationAll,
				admissionregistrationv1.Connect, admissionregistrationv1.Create, admissionregistrationv1.Update)...)
		}
	}
	return errs
}

// reserved are the words that cannot be names in CEL.
var reserved = sets.New("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
	"loop", "package", "namespace", "return", "var", "void", "while")

func validateVariables(variables []admissionregistrationv1.Variable, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, v := range variables {
		at := at.Index(i)
		switch {
		case strings.TrimSpace(v.Name) == "":
			errs = append(errs, field.Required(at.Child("name"), "name is not specified"))
		case len(content.IsCIdentifier(v.Name)) > 0 || reserved.Has(v.Name):
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, "must be a valid CEL identifier"))
		}
		errs = append(errs, validateExpression(v.Expression, at.Child("expression"), expressionIsNotSpecified)...)
	}
	return errs
}

func validateValidations(p *admissionregistrationv1.ValidatingAdmissionPolicy, spec *field.Path) field.ErrorList {
	if len(p.Spec.Validations)+len(p.Spec.AuditAnnotations) == 0 {
		return field.ErrorList{field.Required(spec.Child("validations"), needsOne), field.Required(spec.Child("auditAnnotations"), needsOne)}
	}
	var errs field.ErrorList
	for i := range p.Spec.Validations {
		v, at := &p.Spec.Validations[i], spec.Child("validations").Index(i)
		errs = append(errs, validateExpression(v.Expression, at.Child("expression"), expressionIsNotSpecified)...)
		if v.MessageExpression != "" && strings.TrimSpace(v.MessageExpression) == "" {
			errs = append(errs, field.Invalid(at.Child("messageExpression"), v.MessageExpression, "must be non-empty if specified"))
		}
		switch message := strings.TrimSpace(v.Message); {
		case v.Message != "" && message == "":
			errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must be non-empty if specified"))
		case strings.ContainsAny(message, "\n\r"):
			errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must not contain line breaks"))
		}
		errs = append(errs, kind.SupportedIfSet(at.Child("reason"), v.Reason,
			metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge)...)
	}
	return errs
}

func validateAuditAnnotations(p *admissionregistrationv1.ValidatingAdmissionPolicy, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(p.Spec.AuditAnnotations) > mostAnnotations {
		errs = append(errs, field.Invalid(at, kind.GoJSON(p.Spec.AuditAnnotations),
			fmt.Sprintf("must not have more than %d auditAnnotations", mostAnnotations)))
	}
	keys := sets.New[string]()
	for i, a := range p.Spec.AuditAnnotations {
		at := at.Index(i)
		if p.Name == "" {
			errs = append(errs, field.Invalid(at.Child("key"), a.Key, "requires metadata.name be non-empty"))
		} else {
			name := p.Name + "/" + a.Key
			errs = append(errs, kind.Invalid(at.Child("key"), name, utilvalidation.IsQualifiedName(name))...)
		}
		errs = append(errs, validateExpression(a.ValueExpression, at.Child("valueExpression"), "valueExpression is not specified")...)
		if len(strings.TrimSpace(a.ValueExpression)) > longestAnnotation {
			errs = append(errs, field.Required(at.Child("valueExpression"), fmt.Sprintf("must not exceed %d bytes in length", longestAnnotation)))
		}
		if keys.Has(a.Key) {
			errs = append(errs, field.Duplicate(at.Child("key"), a.Key))
		}
		keys.Insert(a.Key)
	}
	return errs
}

func validateMutations(mutations []admissionregistrationv1.Mutation, at *field.Path) field.ErrorList {
	if len(mutations) == 0 {
		return field.ErrorList{field.Required(at, "mutations must contain at least one item")}
	}
	var errs field.ErrorList
	for i := range mutations {
		errs = append(errs, validateMutation(&mutations[i], at.Index(i))...)
	}
	return errs
}

// validateMutation requires the patch that the type names, and no other.
func validateMutation(m *admissionregistrationv1.Mutation, at *field.Path) field.ErrorList {
	errs := kind.OneOf(at.Child("patchType"), m.PatchType,
		admissionregistrationv1.PatchTypeApplyConfiguration, admissionregistrationv1.PatchTypeJSONPatch)
	if len(errs) > 0 {
		return errs
	}
	apply, patch := at.Child("applyConfiguration"), at.Child("jsonPatch")
	if m.PatchType == admissionregistrationv1.PatchTypeJSONPatch {
		if m.JSONPatch == nil {
			errs = append(errs, field.Required(patch, "must be specified when patchType is JSONPatch"))
		} else {
			errs = append(errs, validateExpression(m.JSONPatch.Expression, patch.Child("expression"), "")...)
		}
		if m.ApplyConfiguration != nil {
			errs = append(errs, field.Invalid(apply, "{applyConfiguration}", "must not be specified when patchType is JSONPatch"))
		}
		return errs
	}
	if m.ApplyConfiguration == nil {
		errs = append(errs, field.Required(apply, "must be specified when patchType is ApplyConfiguration"))
	} else {
		errs = append(errs, validateExpression(m.ApplyConfiguration.Expression, apply.Child("expression"), "")...)
	}
	if m.JSONPatch != nil {
		errs = append(errs, field.Invalid(patch, "{jsonPatch}", "must not be specified when patchType is ApplyConfiguration"))
	}
	return errs
}

func validatePolicyStatus(p *admissionregistrationv1.ValidatingAdmissionPolicy, features *feature.Set) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("status")
	if checking := p.Status.TypeChecking; checking != nil {
		for i, w := range checking.ExpressionWarnings {
			at := at.Child("typeChecking", "expressionWarnings").Index(i)
			errs = append(errs, kind.Required(at.Child("warning"), w.Warning)...)
			errs = append(errs, validateFieldRef(strings.TrimSpace(w.FieldRef), at.Child("fieldRef"))...)
		}
	}
	return append(errs, kind.Conditions(features, at.Child("conditions"), p.Status.Conditions)...)
}

func validateFieldRef(ref string, at *field.Path) field.ErrorList {
	if ref == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	if err := jsonpath.New("spec").Parse("{" + ref + "}"); err != nil {
		return field.ErrorList{field.Invalid(at, ref, fmt.Sprintf("invalid JSONPath: %v", err))}
	}
	return nil
}
