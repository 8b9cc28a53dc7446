package networking

import (
	"fmt"
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func validateAddress(a *networkingv1.IPAddress) field.ErrorList {
	at, ref := field.NewPath("spec", "parentRef"), a.Spec.ParentRef
	if ref == nil {
		return kind.ByTag(field.ErrorList{field.Required(at, "")})
	}
	var errs field.ErrorList
	if ref.Group != "" { // The core group has no name.
		errs = append(errs, kind.Invalid(at.Child("group"), ref.Group, utilvalidation.IsDNS1123Subdomain(ref.Group))...)
	}
	errs = slices.Concat(errs,
		kind.RequiredByTag(kind.Formatted(at.Child("resource"), ref.Resource, content.IsPathSegmentName)),
		kind.RequiredByTag(kind.Formatted(at.Child("name"), ref.Name, content.IsPathSegmentName)),
	)
	if ref.Namespace != "" {
		errs = append(errs, kind.Invalid(at.Child("namespace"), ref.Namespace, content.IsPathSegmentName(ref.Namespace))...)
	}
	return errs
}

func validateAddressUpdate(a, old *networkingv1.IPAddress, features *feature.Set) field.ErrorList {
	return append(validateAddress(a),
		kind.ImmutableByTag(features, field.NewPath("spec", "parentRef"), a.Spec.ParentRef, old.Spec.ParentRef)...)
}

// validateAddressName requires the canonical form of an address, so that no two objects stand for
// the same address.
func validateAddressName(name string, _ bool) []string {
	address, err := netip.ParseAddr(name)
	switch {
	case err != nil || address.Zone() != "":
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	case address.String() != name:
		return []string{fmt.Sprintf("must be in canonical form (%q)", address)}
	}
	return nil
}
