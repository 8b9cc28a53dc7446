package networking

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateIngress(i *networkingv1.Ingress) field.ErrorList {
	spec := field.NewPath("spec")
	if len(i.Spec.Rules) == 0 && i.Spec.DefaultBackend == nil {
		return field.ErrorList{field.Invalid(spec, i.Spec.Rules, "either `defaultBackend` or `rules` must be specified")}
	}
	var errs field.ErrorList
	for n, rule := range i.Spec.Rules {
		at := spec.Child("rules").Index(n)
		switch {
		case strings.Contains(rule.Host, "*"):
			errs = append(errs, kind.Invalid(at.Child("host"), rule.Host, utilvalidation.IsWildcardDNS1123Subdomain(rule.Host))...)
		case rule.Host != "":
			errs = append(errs, kind.Invalid(at.Child("host"), rule.Host, utilvalidation.IsDNS1123Subdomain(rule.Host))...)
		}
		if rule.HTTP != nil {
			errs = append(errs, validatePaths(rule.HTTP.Paths, at.Child("http", "paths"))...)
		}
	}
	return errs
}

func validatePaths(paths []networkingv1.HTTPIngressPath, at *field.Path) field.ErrorList {
	if len(paths) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	for i := range paths {
		p, at := &paths[i], at.Index(i)
		if p.PathType == nil {
			errs = append(errs, field.Required(at.Child("pathType"), "pathType must be specified"))
			continue
		}
		switch *p.PathType {
		case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
			if !strings.HasPrefix(p.Path, "/") {
				errs = append(errs, field.Invalid(at.Child("path"), p.Path, "must be an absolute path"))
			}
		case networkingv1.PathTypeImplementationSpecific:
		default:
			errs = append(errs, field.NotSupported(at.Child("pathType"), *p.PathType, []networkingv1.PathType{
				networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix,
			}))
		}
	}
	return errs
}
