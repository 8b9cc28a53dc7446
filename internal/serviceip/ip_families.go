package serviceip

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/core"
)

// initIPFamilies sets the default IP family policy and IP families of a service. It returns an
// error if the given ones are inconsistent or not configured. old is nil for a new service.
func (tx *transaction) initIPFamilies(old *corev1.Service) error {
	s, spec := tx.service, &tx.service.Spec
	if spec.Type == corev1.ServiceTypeExternalName || keepsDualStack(s, old) {
		return nil
	}
	defaultIPFamilyPolicy(s, old)
	errs := core.ValidateServiceAddresses(s, old)
	if len(errs) == 0 {
		errs = slices.Concat(trimToSingleStack(s, old), tx.inferFamilies(spec))
	}
	// A headless service without a selector may have any IP families.
	anyFamily := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0
	if len(errs) == 0 && !anyFamily {
		errs = tx.missingFamilies(spec)
	}
	if len(errs) > 0 {
		return tx.invalid(errs)
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{tx.families()[0]}
	}
	if *spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack && len(spec.IPFamilies) == 1 && (anyFamily || len(tx.families()) == 2) {
		spec.IPFamilies = append(spec.IPFamilies, other(spec.IPFamilies[0]))
	}
	return nil
}

func (tx *transaction) invalid(errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, tx.service.Name, errs)
}

// families returns the configured IP families, the primary family first.
func (a *Allocator) families() []corev1.IPFamily {
	var families []corev1.IPFamily
	for _, r := range a.config.ServiceRanges {
		families = append(families, core.FamilyOf(r.Addr().String()))
	}
	return families
}

func other(family corev1.IPFamily) corev1.IPFamily {
	if family == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// keepsDualStack reports whether an update leaves the families and addresses of a PreferDualStack
// service unchanged. They remain valid even if the configured families have changed.
func keepsDualStack(s, old *corev1.Service) bool {
	return old != nil && s.Spec.Type == old.Spec.Type && prefersDualStack(s) && s.Spec.IPFamilyPolicy != nil &&
		(prefersDualStack(old) || old.Spec.IPFamilyPolicy == nil) &&
		s.Spec.ClusterIP == old.Spec.ClusterIP && slices.Equal(s.Spec.ClusterIPs, old.Spec.ClusterIPs) &&
		slices.Equal(s.Spec.IPFamilies, old.Spec.IPFamilies)
}

func prefersDualStack(s *corev1.Service) bool {
	return s.Spec.IPFamilyPolicy != nil && *s.Spec.IPFamilyPolicy == corev1.IPFamilyPolicyPreferDualStack
}

func defaultIPFamilyPolicy(s, old *corev1.Service) {
	switch spec := &s.Spec; {
	case spec.IPFamilyPolicy != nil:
	case old != nil && old.Spec.IPFamilyPolicy != nil:
		spec.IPFamilyPolicy = new(*old.Spec.IPFamilyPolicy)
	case spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0:
		spec.IPFamilyPolicy = new(corev1.IPFamilyPolicyRequireDualStack)
	default:
		spec.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack)
	}
}

// trimToSingleStack drops the secondary address and family when the policy becomes SingleStack. It
// returns an error if they are dropped, or specified, with an inconsistent policy.
func trimToSingleStack(s, old *corev1.Service) field.ErrorList {
	spec, at := &s.Spec, field.NewPath("spec", "ipFamilyPolicy")
	single := *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	policyError := func(text string) field.ErrorList {
		return field.ErrorList{field.Invalid(at, *spec.IPFamilyPolicy, text)}
	}
	var errs field.ErrorList
	if old != nil && single {
		if slices.Equal(spec.ClusterIPs, old.Spec.ClusterIPs) && len(spec.ClusterIPs) > 1 {
			spec.ClusterIPs = spec.ClusterIPs[:1:1]
		}
		if slices.Equal(spec.IPFamilies, old.Spec.IPFamilies) && len(spec.IPFamilies) > 1 {
			spec.IPFamilies = spec.IPFamilies[:1:1]
		}
	}
	if old != nil && !single {
		if n := len(spec.ClusterIPs); n > 0 && n < len(old.Spec.ClusterIPs) {
			errs = append(errs, policyError("must be 'SingleStack' to release the secondary cluster IP")...)
		}
		if n := len(spec.IPFamilies); n > 0 && n < len(old.Spec.IPFamilies) {
			errs = append(errs, policyError("must be 'SingleStack' to release the secondary IP family")...)
		}
	}
	if single && len(spec.ClusterIPs) == 2 {
		errs = append(errs, policyError("must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified")...)
	}
	if single && len(spec.IPFamilies) == 2 {
		errs = append(errs, policyError("must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified")...)
	}
	return errs
}

// inferFamilies appends the families of the given addresses to spec.ipFamilies.
func (tx *transaction) inferFamilies(spec *corev1.ServiceSpec) field.ErrorList {
	var errs field.ErrorList
	for i, ip := range spec.ClusterIPs {
		family := core.FamilyOf(ip)
		switch {
		case ip == corev1.ClusterIPNone, i < len(spec.IPFamilies):
		case slices.Contains(tx.families(), family):
			spec.IPFamilies = append(spec.IPFamilies, family)
		default:
			errs = append(errs, field.Invalid(field.NewPath("spec", "clusterIPs").Index(i), spec.ClusterIPs,
				fmt.Sprintf("%s is not configured on this cluster", family)))
		}
	}
	return errs
}

// missingFamilies returns an error for each requested family that is not configured.
func (tx *transaction) missingFamilies(spec *corev1.ServiceSpec) field.ErrorList {
	var errs field.ErrorList
	if *spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack && len(tx.families()) < 2 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), *spec.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, family := range spec.IPFamilies {
		if !slices.Contains(tx.families(), family) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), family, "not configured on this cluster"))
		}
	}
	return errs
}
