package networking

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	classAnnotation = "kubernetes.io/ingress.class"
	noAddressText   = "must be a DNS name, not an IP address"
)

// validateNewIngress rejects the annotation for the ingress class beside its field.
func validateNewIngress(i *networkingv1.Ingress) field.ErrorList {
	errs := validateIngress(i)
	if class, ok := i.Annotations[classAnnotation]; ok && i.Spec.IngressClassName != nil && class != *i.Spec.IngressClassName {
		errs = append(errs, field.Invalid(field.NewPath("annotations").Child(classAnnotation), class,
			"must match `ingressClassName` when both are specified"))
	}
	return errs
}

func validateIngress(i *networkingv1.Ingress) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if len(i.Spec.Rules) == 0 && i.Spec.DefaultBackend == nil {
		errs = append(errs, field.Invalid(spec, i.Spec.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if i.Spec.DefaultBackend != nil {
		errs = append(errs, validateBackend(i.Spec.DefaultBackend, spec.Child("defaultBackend"))...)
	}
	errs = append(errs, validateIngressRules(i.Spec.Rules, spec.Child("rules"))...)
	errs = append(errs, validateTLS(i.Spec.TLS, spec.Child("tls"))...)
	if class := i.Spec.IngressClassName; class != nil {
		errs = append(errs, kind.Invalid(spec.Child("ingressClassName"), *class, utilvalidation.IsDNS1123Subdomain(*class))...)
	}
	return errs
}

func validateIngressRules(rules []networkingv1.IngressRule, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, rule := range rules {
		at := at.Index(i)
		if netutils.ParseIPSloppy(rule.Host) != nil {
			errs = append(errs, field.Invalid(at.Child("host"), rule.Host, noAddressText))
		}
		if rule.Host != "" {
			errs = append(errs, validateHost(rule.Host, at.Child("host"))...)
		}
		if rule.HTTP != nil {
			errs = append(errs, validatePaths(rule.HTTP.Paths, at.Child("http", "paths"))...)
		}
	}
	return errs
}

// validateHost accepts a wildcard as the first label.
func validateHost(host string, at *field.Path) field.ErrorList {
	if strings.Contains(host, "*") {
		return kind.Invalid(at, host, utilvalidation.IsWildcardDNS1123Subdomain(host))
	}
	return kind.Invalid(at, host, utilvalidation.IsDNS1123Subdomain(host))
}

func validateTLS(list []networkingv1.IngressTLS, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, tls := range list {
		for j, host := range tls.Hosts {
			errs = append(errs, validateHost(host, at.Index(i).Child("hosts").Index(j))...)
		}
		if tls.SecretName != "" {
			errs = append(errs, kind.Invalid(at.Index(i).Child("secretName"), tls.SecretName, utilvalidation.IsDNS1123Subdomain(tls.SecretName))...)
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
		errs = append(errs, validatePath(&paths[i], at.Index(i))...)
	}
	return errs
}

func validatePath(p *networkingv1.HTTPIngressPath, at *field.Path) field.ErrorList {
	if p.PathType == nil {
		return field.ErrorList{field.Required(at.Child("pathType"), "pathType must be specified")}
	}
	var errs field.ErrorList
	path := at.Child("path")
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(path, p.Path, "must be an absolute path"))
		}
		errs = append(errs, validateCleanPath(p.Path, path)...)
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(path, p.Path, "must be an absolute path"))
		}
	default:
		errs = append(errs, kind.Supported(at.Child("pathType"), *p.PathType,
			networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix)...)
	}
	return append(errs, validateBackend(&p.Backend, at.Child("backend"))...)
}

// validateCleanPath rejects sequences that proxies interpret differently.
func validateCleanPath(path string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(path, part) {
			errs = append(errs, field.Invalid(at, path, fmt.Sprintf("must not contain '%s'", part)))
		}
	}
	for _, end := range []string{"/..", "/."} {
		if strings.HasSuffix(path, end) {
			errs = append(errs, field.Invalid(at, path, fmt.Sprintf("cannot end with '%s'", end)))
		}
	}
	return errs
}

func validateBackend(b *networkingv1.IngressBackend, at *field.Path) field.ErrorList {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(at, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return validateReference(b.Resource, at.Child("resource"))
	case b.Service != nil:
		return validateServiceBackend(b.Service, at)
	}
	return field.ErrorList{field.Invalid(at, "", "resource or service backend is required")}
}

func validateReference(ref *corev1.TypedLocalObjectReference, at *field.Path) field.ErrorList {
	return slices.Concat(
		validateGroup(ref.APIGroup, at.Child("apiGroup")),
		kind.Formatted(at.Child("kind"), ref.Kind, content.IsPathSegmentName),
		kind.Formatted(at.Child("name"), ref.Name, content.IsPathSegmentName),
	)
}

func validateGroup(group *string, at *field.Path) field.ErrorList {
	if group == nil {
		return nil
	}
	return kind.Invalid(at, *group, utilvalidation.IsDNS1123Subdomain(*group))
}

func validateServiceBackend(s *networkingv1.IngressServiceBackend, at *field.Path) field.ErrorList {
	errs := kind.Formatted(at.Child("service", "name"), s.Name, utilvalidation.IsDNS1123Label)
	port := at.Child("service", "port")
	switch named, numbered := s.Port.Name != "", s.Port.Number != 0; {
	case named && numbered:
		errs = append(errs, field.Invalid(at, "", "cannot set both port name & port number"))
	case named:
		errs = append(errs, kind.Invalid(port.Child("name"), s.Port.Name, utilvalidation.IsValidPortName(s.Port.Name))...)
	case numbered:
		errs = append(errs, kind.Invalid(port.Child("number"), s.Port.Number, utilvalidation.IsValidPortNum(int(s.Port.Number)))...)
	default:
		errs = append(errs, field.Required(at, "port name or number is required"))
	}
	return errs
}

// validateIngressStatus accepts existing addresses that are malformed.
func validateIngressStatus(i, old *networkingv1.Ingress) field.ErrorList {
	var errs field.ErrorList
	var known []string
	for _, point := range old.Status.LoadBalancer.Ingress {
		known = append(known, point.IP)
	}
	for n, point := range i.Status.LoadBalancer.Ingress {
		at := field.NewPath("status", "loadBalancer", "ingress").Index(n)
		if point.IP != "" {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Child("ip"), point.IP, true, known)...)
		}
		if point.Hostname != "" {
			errs = append(errs, kind.Invalid(at.Child("hostname"), point.Hostname, utilvalidation.IsDNS1123Subdomain(point.Hostname))...)
		}
		if netutils.ParseIPSloppy(point.Hostname) != nil {
			errs = append(errs, field.Invalid(at.Child("hostname"), point.Hostname, noAddressText))
		}
	}
	return errs
}
