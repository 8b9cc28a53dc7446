package core

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateServiceAddresses validates the addresses of a service and its IP families. Addresses of
// old, which may be nil, are not validated again.
func ValidateServiceAddresses(s, old *corev1.Service) field.ErrorList {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	spec := field.NewPath("spec")
	at, ips := spec.Child("clusterIPs"), s.Spec.ClusterIPs
	errs := validateSameAddress(&s.Spec, at)
	errs = append(errs, validateFamilies(&s.Spec, spec)...)
	malformed := validateAddressTexts(ips, old, at)
	errs = append(errs, malformed...)
	if len(ips) > 2 {
		errs = append(errs, field.Invalid(at, ips, "may only hold up to 2 values"))
	}
	if len(malformed) > 0 { // the checks below would repeat the error
		return errs
	}
	if len(ips) > 1 && !slices.ContainsFunc(ips[1:], func(ip string) bool { return FamilyOf(ip) != FamilyOf(ips[0]) }) {
		errs = append(errs, field.Invalid(at, ips, "may specify no more than one IP for each IP family"))
	}
	if IsHeadless(s) {
		return errs
	}
	for i, ip := range ips {
		if i < len(s.Spec.IPFamilies) && slices.Contains(ipFamilies, s.Spec.IPFamilies[i]) && s.Spec.IPFamilies[i] != FamilyOf(ip) {
			errs = append(errs, field.Invalid(at.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", s.Spec.IPFamilies[i], i)))
		}
	}
	return errs
}

// validateSameAddress requires the first value of the list to equal the single field.
func validateSameAddress(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	switch {
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		return field.ErrorList{field.Invalid(at, spec.ClusterIPs, "must be empty when `clusterIP` is not specified")}
	case spec.ClusterIP == "":
		return nil
	case len(spec.ClusterIPs) == 0:
		return field.ErrorList{field.Required(at, "")}
	case spec.ClusterIPs[0] != spec.ClusterIP:
		return field.ErrorList{field.Invalid(at, spec.ClusterIPs, "first value must match `clusterIP`")}
	}
	return nil
}

var ipFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}

func validateFamilies(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, family := range spec.IPFamilies {
		at := at.Child("ipFamilies").Index(i)
		if !slices.Contains(ipFamilies, family) {
			errs = append(errs, field.NotSupported(at, family, ipFamilies))
		}
		if slices.Contains(spec.IPFamilies[:i], family) {
			errs = append(errs, field.Duplicate(at, family))
		}
	}
	known := []corev1.IPFamilyPolicy{corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack}
	if policy := spec.IPFamilyPolicy; policy != nil && !slices.Contains(known, *policy) {
		errs = append(errs, field.NotSupported(at.Child("ipFamilyPolicy"), *policy, known))
	}
	return errs
}

func validateAddressTexts(ips []string, old *corev1.Service, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var had []string
	if old != nil {
		had = old.Spec.ClusterIPs
	}
	for i, ip := range ips {
		switch {
		case i > 0 || ip != corev1.ClusterIPNone:
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Index(i), ip, true, had)...)
		case len(ips) > 1:
			errs = append(errs, field.Invalid(at, ips, "'None' must be the first and only value"))
		}
	}
	return errs
}

// IsHeadless reports whether a service has no cluster IP on request.
func IsHeadless(s *corev1.Service) bool {
	return len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone
}

// FamilyOf returns the family of an address, "" for a malformed one.
func FamilyOf(ip string) corev1.IPFamily {
	address, err := netip.ParseAddr(ip)
	switch {
	case err != nil:
		return ""
	case address.Is4():
		return corev1.IPv4Protocol
	default:
		return corev1.IPv6Protocol
	}
}
