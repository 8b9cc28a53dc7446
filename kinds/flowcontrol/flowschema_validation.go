package flowcontrol

import (
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

func validateSchema(s *flowcontrolv1.FlowSchema) field.ErrorList {
	spec := field.NewPath("spec")
	errs := slices.Concat(
		validatePrecedence(s, spec.Child("matchingPrecedence")),
		validateDistinguisher(s.Spec.DistinguisherMethod, spec.Child("distinguisherMethod", "type")),
		validateLevelRef(s.Spec.PriorityLevelConfiguration.Name, spec.Child("priorityLevelConfiguration", "name")),
	)
	for i := range s.Spec.Rules {
		errs = append(errs, validateRules(&s.Spec.Rules[i], spec.Child("rules").Index(i))...)
	}
	errs = append(errs, validateMandatorySchema(s, spec)...)
	return append(errs, validateSchemaStatus(s, nil)...)
}

func validatePrecedence(s *flowcontrolv1.FlowSchema, at *field.Path) field.ErrorList {
	n := s.Spec.MatchingPrecedence
	var errs field.ErrorList
	if n <= 0 {
		errs = append(errs, field.Invalid(at, n, "must be a positive value"))
	}
	if n > flowcontrolv1.FlowSchemaMaxMatchingPrecedence {
		errs = append(errs, field.Invalid(at, n, fmt.Sprintf("must not be greater than %d", flowcontrolv1.FlowSchemaMaxMatchingPrecedence)))
	}
	if n == 1 && s.Name != exempt {
		errs = append(errs, field.Invalid(at, n, "only the schema named 'exempt' may have matchingPrecedence 1"))
	}
	return errs
}

func validateDistinguisher(m *flowcontrolv1.FlowDistinguisherMethod, at *field.Path) field.ErrorList {
	known := []flowcontrolv1.FlowDistinguisherMethodType{
		flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType,
	}
	if m == nil || slices.Contains(known, m.Type) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, kind.GoJSON(m), known)}
}

func validateLevelRef(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "must reference a priority level")}
	}
	return kind.Invalid(at, name, utilvalidation.IsDNS1123Subdomain(name))
}

func validateRules(r *flowcontrolv1.PolicyRulesWithSubjects, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(r.Subjects) == 0 {
		errs = append(errs, field.Required(at.Child("subjects"), "subjects must contain at least one value"))
	}
	for i := range r.Subjects {
		errs = append(errs, validateSubject(&r.Subjects[i], at.Child("subjects").Index(i))...)
	}
	if len(r.ResourceRules)+len(r.NonResourceRules) == 0 {
		errs = append(errs, field.Required(at, "at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for i := range r.ResourceRules {
		errs = append(errs, validateResourceRule(&r.ResourceRules[i], at.Child("resourceRules").Index(i))...)
	}
	for i, rule := range r.NonResourceRules {
		at := at.Child("nonResourceRules").Index(i)
		errs = slices.Concat(errs, validateVerbs(rule.Verbs, at.Child("verbs")), validatePaths(rule.NonResourceURLs, at.Child("nonResourceURLs")))
	}
	return errs
}

// validateSubject requires the member that the kind names, and reports its errors first.
func validateSubject(s *flowcontrolv1.Subject, at *field.Path) field.ErrorList {
	var errs, others field.ErrorList
	member := func(set bool, of flowcontrolv1.SubjectKind, name string, validate func(at *field.Path) field.ErrorList) {
		at := at.Child(name)
		switch {
		case s.Kind == of && !set:
			errs = append(errs, field.Required(at, fmt.Sprintf("%s is required when subject kind is '%s'", name, of)))
		case s.Kind == of:
			errs = append(errs, validate(at)...)
		case set:
			others = append(others, field.Forbidden(at, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", name, of)))
		}
	}
	kinds := []flowcontrolv1.SubjectKind{flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser}
	if !slices.Contains(kinds, s.Kind) {
		return kind.Supported(at.Child("kind"), s.Kind, kinds...)
	}
	member(s.ServiceAccount != nil, flowcontrolv1.SubjectKindServiceAccount, "serviceAccount", func(at *field.Path) field.ErrorList {
		return validateAccount(s.ServiceAccount, at)
	})
	member(s.User != nil, flowcontrolv1.SubjectKindUser, "user", func(at *field.Path) field.ErrorList {
		return kind.Required(at.Child("name"), s.User.Name)
	})
	member(s.Group != nil, flowcontrolv1.SubjectKindGroup, "group", func(at *field.Path) field.ErrorList {
		return kind.Required(at.Child("name"), s.Group.Name)
	})
	return append(errs, others...)
}

func validateAccount(a *flowcontrolv1.ServiceAccountSubject, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if a.Name != flowcontrolv1.NameAll {
		errs = append(errs, kind.Formatted(at.Child("name"), a.Name, utilvalidation.IsDNS1123Subdomain)...)
	}
	if a.Namespace == "" {
		return append(errs, field.Required(at.Child("namespace"), "must specify namespace for service account"))
	}
	return append(errs, kind.Invalid(at.Child("namespace"), a.Namespace, utilvalidation.IsDNS1123Label(a.Namespace))...)
}

func validateResourceRule(r *flowcontrolv1.ResourcePolicyRule, at *field.Path) field.ErrorList {
	return slices.Concat(
		validateVerbs(r.Verbs, at.Child("verbs")),
		validateAlternatives(r.APIGroups, at.Child("apiGroups"), "api groups", "resource rules must supply at least one api group"),
		validateAlternatives(r.Resources, at.Child("resources"), "resources", "resource rules must supply at least one resource"),
		validateNamespaces(r, at.Child("namespaces")),
	)
}

// validateAlternatives requires at least one item, and no other item beside the wildcard.
func validateAlternatives(list []string, at *field.Path, what, missing string) field.ErrorList {
	switch {
	case len(list) == 0:
		return field.ErrorList{field.Required(at, missing)}
	case len(list) > 1 && slices.Contains(list, "*"):
		return field.ErrorList{field.Invalid(at, list, fmt.Sprintf("if '*' is present, must not specify other %s", what))}
	}
	return nil
}

func validateVerbs(list []string, at *field.Path) field.ErrorList {
	errs := validateAlternatives(list, at, "verbs", "verbs must contain at least one value")
	if !slices.Contains(list, "*") && !sets.New(verbs...).HasAll(list...) {
		errs = append(errs, field.NotSupported(at, list, verbs))
	}
	return errs
}

func validateNamespaces(r *flowcontrolv1.ResourcePolicyRule, at *field.Path) field.ErrorList {
	if len(r.Namespaces) == 0 && r.ClusterScope {
		return nil
	}
	errs := validateAlternatives(r.Namespaces, at, "namespaces", "resource rules that are not cluster scoped must supply at least one namespace")
	if slices.Contains(r.Namespaces, "*") {
		return errs
	}
	for i, name := range r.Namespaces {
		for _, message := range utilvalidation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(at.Index(i), name, "each member of this list must be '*' or a DNS-1123 label; "+message))
		}
	}
	return errs
}

func validatePaths(paths []string, at *field.Path) field.ErrorList {
	errs := validateAlternatives(paths, at, "non-resource URLs", "nonResourceURLs must contain at least one value")
	if slices.Contains(paths, "*") {
		return errs
	}
	for i, path := range paths {
		if err := pathError(path); err != "" {
			errs = append(errs, field.Invalid(at.Index(i), path, err))
		}
	}
	return errs
}

func pathError(path string) string {
	switch stars := strings.Count(path, "*"); {
	case path == "":
		return "must not be empty"
	case !strings.HasPrefix(path, "/"):
		return "must start with slash"
	case strings.Contains(path, " "):
		return "must not contain white-space"
	case strings.Contains(path, "//"):
		return "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(path, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}

func validateSchemaStatus(s, _ *flowcontrolv1.FlowSchema) field.ErrorList {
	return validateConditions(s.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) string { return string(c.Type) })
}

// validateConditions requires each type once.
func validateConditions[C any](conditions []C, typeOf func(C) string) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, c := range conditions {
		at, typ := field.NewPath("status", "conditions").Index(i).Child("type"), typeOf(c)
		if seen.Has(typ) {
			errs = append(errs, field.Duplicate(at, typ))
		}
		seen.Insert(typ)
		if typ == "" {
			errs = append(errs, field.Required(at, ""))
		}
	}
	return errs
}
