package networking

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateAddress(a *networkingv1.IPAddress) field.ErrorList {
	at, ref := field.NewPath("spec", "parentRef"), a.Spec.ParentRef
	if ref == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if ref.Group != "" { // The core group has no name.
		errs = append(errs, kind.Invalid(at.Child("group"), ref.Group, utilvalidation.IsDNS1123Subdomain(ref.Group))...)
	}
	errs = slices.Concat(errs,
		kind.Named(at.Child("resource"), ref.Resource, content.IsPathSegmentName),
		kind.Named(at.Child("name"), ref.Name, content.IsPathSegmentName),
	)
	if ref.Namespace != "" {
		errs = append(errs, kind.Invalid(at.Child("namespace"), ref.Namespace, content.IsPathSegmentName(ref.Namespace))...)
	}
	return errs
}

func validateAddressUpdate(a, old *networkingv1.IPAddress) field.ErrorList {
	return append(validateAddress(a), kind.Immutable(field.NewPath("spec", "parentRef"), a.Spec.ParentRef, old.Spec.ParentRef)...)
}

// validateCIDRs wants a block of addresses, or one of each IP family.
func validateCIDRs(c *networkingv1.ServiceCIDR) field.ErrorList {
	at, cidrs := field.NewPath("spec", "cidrs"), c.Spec.CIDRs
	switch n := len(cidrs); {
	case n == 0:
		return field.ErrorList{field.Required(at, "at least one CIDR required")}
	case n > 2:
		return field.ErrorList{field.Invalid(at, kind.GoJSON(c.Spec), "may only hold up to 2 values")}
	}
	var errs field.ErrorList
	for i, cidr := range cidrs {
		errs = append(errs, utilvalidation.IsValidCIDR(at.Index(i), cidr)...)
	}
	if len(cidrs) < 2 {
		return errs
	}
	first, second := netutils.IPFamilyOfCIDRString(cidrs[0]), netutils.IPFamilyOfCIDRString(cidrs[1])
	if first == second && first != netutils.IPFamilyUnknown {
		errs = append(errs, field.Invalid(at, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
	}
	return errs
}

// validateCIDRsUpdate lets a block of the other IP family come.
func validateCIDRsUpdate(c, old *networkingv1.ServiceCIDR) field.ErrorList {
	at := field.NewPath("spec", "cidrs")
	now, was := c.Spec.CIDRs, old.Spec.CIDRs
	grows := len(was) == 1 && len(now) == 2
	if len(now) != len(was) && !grows {
		return field.ErrorList{field.Invalid(at, now, validation.FieldImmutableErrorMsg)}
	}
	var errs field.ErrorList
	for i, cidr := range was {
		if now[i] != cidr {
			errs = append(errs, field.Invalid(at.Index(i), now[i], validation.FieldImmutableErrorMsg))
		}
	}
	if grows {
		errs = append(errs, validateCIDRs(c)...)
	}
	return errs
}
