package core

import (
	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateServiceStatus validates the ingress points of a load balancer. Existing addresses are not
// validated.
func validateServiceStatus(s, old *corev1.Service) field.ErrorList {
	at := field.NewPath("status", "loadBalancer", "ingress")
	list := s.Status.LoadBalancer.Ingress
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer && len(list) > 0 {
		return field.ErrorList{field.Forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	return validateIngressPoints(list, old.Status.LoadBalancer.Ingress, at)
}

func validateIngressPoints(list, old []corev1.LoadBalancerIngress, at *field.Path) field.ErrorList {
	var had []string
	for _, ingress := range old {
		if ingress.IP != "" {
			had = append(had, ingress.IP)
		}
	}
	var errs field.ErrorList
	for i := range list {
		ingress, at := &list[i], at.Index(i)
		if ingress.IP != "" {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Child("ip"), ingress.IP, true, had)...)
		}
		errs = append(errs, validateIPMode(ingress, at.Child("ipMode"))...)
		if name := ingress.Hostname; name != "" {
			errs = append(errs, kind.Invalid(at.Child("hostname"), name, utilvalidation.IsDNS1123Subdomain(name))...)
			if netutils.ParseIPSloppy(name) != nil {
				errs = append(errs, field.Invalid(at.Child("hostname"), name, "must be a DNS name, not an IP address"))
			}
		}
	}
	return errs
}

func validateIPMode(ingress *corev1.LoadBalancerIngress, at *field.Path) field.ErrorList {
	switch {
	case ingress.IPMode == nil && ingress.IP != "":
		return field.ErrorList{field.Required(at, "must be specified when `ip` is set")}
	case ingress.IPMode != nil && ingress.IP == "":
		return field.ErrorList{field.Forbidden(at, "may not be specified when `ip` is not set")}
	}
	return kind.SupportedIfSet(at, ingress.IPMode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP)
}
