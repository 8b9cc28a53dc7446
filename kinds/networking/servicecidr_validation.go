package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateCIDRs requires one block of addresses, or one of each IP family.
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

// validateCIDRsUpdate allows the addition of a block of the other IP family.
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
