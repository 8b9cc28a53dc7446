package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The rules that webhooks and policies match requests by.

func validateMatch(m *admissionregistrationv1.MatchResources, at *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	errs := slices.Concat(
		validateMatchPolicy(m.MatchPolicy, at.Child("matchPolicy")),
		validateSelector(m.NamespaceSelector, at.Child("namespaceSelector")),
		validateSelector(m.ObjectSelector, at.Child("objectSelector")),
	)
	for i := range m.ResourceRules {
		errs = append(errs, validateNamedRule(&m.ResourceRules[i], at.Child("resourceRules").Index(i))...)
	}
	for i := range m.ExcludeResourceRules {
		errs = append(errs, validateNamedRule(&m.ExcludeResourceRules[i], at.Child("excludeResourceRules").Index(i))...)
	}
	return errs
}

// validateMatchPolicy requires the match policy, which defaults to Equivalent.
func validateMatchPolicy(p *admissionregistrationv1.MatchPolicyType, at *field.Path) field.ErrorList {
	if p == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	return kind.Supported(at, *p, admissionregistrationv1.Equivalent, admissionregistrationv1.Exact)
}

func validateSelector(s *metav1.LabelSelector, at *field.Path) field.ErrorList {
	if s == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	return kind.Selector(at, s)
}

func validateNamedRule(r *admissionregistrationv1.NamedRuleWithOperations, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, name := range r.ResourceNames {
		at := at.Child("resourceNames").Index(i)
		errs = append(errs, kind.Invalid(at, name, content.IsPathSegmentName(name))...)
		if seen.Has(name) {
			errs = append(errs, field.Duplicate(at, name))
		}
		seen.Insert(name)
	}
	return append(errs, validateRule(&r.RuleWithOperations, at)...)
}

func validateRule(r *admissionregistrationv1.RuleWithOperations, at *field.Path) field.ErrorList {
	return slices.Concat(
		validateOperations(r.Operations, at.Child("operations")),
		validateAlternatives(r.APIGroups, at.Child("apiGroups"), "API groups"),
		validateAlternatives(r.APIVersions, at.Child("apiVersions"), "API versions"),
		validateNonEmpty(r.APIVersions, at.Child("apiVersions")),
		validateResources(r.Resources, at.Child("resources")),
		kind.SupportedIfSet(at.Child("scope"), r.Scope,
			admissionregistrationv1.AllScopes, admissionregistrationv1.ClusterScope, admissionregistrationv1.NamespacedScope),
	)
}

func validateOperations(operations []admissionregistrationv1.OperationType, at *field.Path) field.ErrorList {
	errs := validateAlternatives(operations, at, "operations")
	for i, operation := range operations {
		errs = append(errs, kind.Supported(at.Index(i), operation, admissionregistrationv1.OperationAll, admissionregistrationv1.Connect,
			admissionregistrationv1.Create, admissionregistrationv1.Delete, admissionregistrationv1.Update)...)
	}
	return errs
}

// validateAlternatives requires at least one item, and no other item beside the wildcard.
func validateAlternatives[T ~string](list []T, at *field.Path, what string) field.ErrorList {
	switch {
	case len(list) == 0:
		return field.ErrorList{field.Required(at, "")}
	case len(list) > 1 && slices.Contains(list, "*"):
		return field.ErrorList{field.Invalid(at, list, "if '*' is present, must not specify other "+what)}
	}
	return nil
}

func validateNonEmpty(list []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, text := range list {
		errs = append(errs, kind.Required(at.Index(i), text)...)
	}
	return errs
}

// validateResources rejects a resource beside a wildcard that includes it.
func validateResources(resources []string, at *field.Path) field.ErrorList {
	if len(resources) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := validateNonEmpty(resources, at)
	wholes, subresources := sets.New[string](), sets.New[string]() // x of x/*, and of */x
	// plain means that the last resource without a subresource is not *.
	plain := false
	for i, name := range resources {
		resource, sub, ok := strings.Cut(name, "/")
		if !ok {
			plain = name != "*" && (name != "" || plain)
			continue
		}
		if wholes.Has(resource) {
			errs = append(errs, field.Invalid(at.Index(i), name, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, name)))
		}
		if subresources.Has(sub) {
			errs = append(errs, field.Invalid(at.Index(i), name, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, name)))
		}
		if sub == "*" {
			wholes.Insert(resource)
		}
		if resource == "*" {
			subresources.Insert(sub)
		}
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		errs = append(errs, field.Invalid(at, resources, "if '*/*' is present, must not specify other resources"))
	}
	if plain && slices.Contains(resources, "*") {
		errs = append(errs, field.Invalid(at, resources, "if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}
