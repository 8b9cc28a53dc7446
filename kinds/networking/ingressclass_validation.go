package networking

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const longestController = 250

func validateIngressClass(c *networkingv1.IngressClass) field.ErrorList {
	spec := field.NewPath("spec")
	return append(validateController(c.Spec.Controller, spec.Child("controller")),
		validateParameters(c.Spec.Parameters, spec.Child("parameters"))...)
}

func validateIngressClassUpdate(c, old *networkingv1.IngressClass) field.ErrorList {
	return append(kind.Immutable(field.NewPath("spec", "controller"), c.Spec.Controller, old.Spec.Controller), validateIngressClass(c)...)
}

func validateController(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > longestController {
		errs = append(errs, field.TooLong(at, "", longestController))
	}
	return append(errs, utilvalidation.IsDomainPrefixedPath(at, name)...)
}

func validateParameters(ref *networkingv1.IngressClassParametersReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return slices.Concat(
		validateGroup(ref.APIGroup, at.Child("apiGroup")),
		kind.RequiredByTag(kind.Formatted(at.Child("kind"), ref.Kind, content.IsPathSegmentName)),
		kind.RequiredByTag(kind.Formatted(at.Child("name"), ref.Name, content.IsPathSegmentName)),
		validateScope(ref, at),
	)
}

// validateScope requires a namespace for namespaced parameters only.
func validateScope(ref *networkingv1.IngressClassParametersReference, at *field.Path) field.ErrorList {
	if ref.Scope == nil {
		return field.ErrorList{field.Required(at.Child("scope"), "")}
	}
	namespace := at.Child("namespace")
	switch *ref.Scope {
	case networkingv1.IngressClassParametersReferenceScopeNamespace:
		if ref.Namespace == nil {
			return field.ErrorList{field.Required(namespace, "`parameters.scope` is set to 'Namespace'")}
		}
		return kind.Invalid(namespace, *ref.Namespace, utilvalidation.IsDNS1123Label(*ref.Namespace))
	case networkingv1.IngressClassParametersReferenceScopeCluster:
		if ref.Namespace != nil {
			return field.ErrorList{field.Forbidden(namespace, "`parameters.scope` is set to 'Cluster'")}
		}
		return nil
	}
	return kind.Supported(at.Child("scope"), *ref.Scope,
		networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace)
}
