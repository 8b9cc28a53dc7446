package networking

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateNetworkPolicy(p *networkingv1.NetworkPolicy) field.ErrorList {
	return validatePolicy(p, nil)
}

// validateNetworkPolicyUpdate accepts malformed addresses that the old policy has, in any place.
func validateNetworkPolicyUpdate(p, old *networkingv1.NetworkPolicy) field.ErrorList {
	var known []string
	visitBlocks(old, func(block *networkingv1.IPBlock, _ *field.Path) {
		known = append(append(known, block.CIDR), block.Except...)
	})
	return validatePolicy(p, known)
}

func validatePolicy(p *networkingv1.NetworkPolicy, known []string) field.ErrorList {
	spec := field.NewPath("spec")
	errs := kind.Selector(spec.Child("podSelector"), &p.Spec.PodSelector)
	for i, rule := range p.Spec.Ingress {
		at := spec.Child("ingress").Index(i)
		errs = append(errs, validatePolicyPorts(rule.Ports, at.Child("ports"))...)
		errs = append(errs, validatePeers(rule.From, known, at.Child("from"))...)
	}
	for i, rule := range p.Spec.Egress {
		at := spec.Child("egress").Index(i)
		errs = append(errs, validatePolicyPorts(rule.Ports, at.Child("ports"))...)
		errs = append(errs, validatePeers(rule.To, known, at.Child("to"))...)
	}
	return append(errs, validatePolicyTypes(p.Spec.PolicyTypes, spec.Child("policyTypes"))...)
}

func validatePolicyTypes(types []networkingv1.PolicyType, at *field.Path) field.ErrorList {
	if len(types) > 2 {
		return field.ErrorList{field.Invalid(at, types, "may not specify more than two policyTypes")}
	}
	var errs field.ErrorList
	for i, typ := range types {
		errs = append(errs, kind.Supported(at.Index(i), typ, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)...)
	}
	return errs
}

func validatePolicyPorts(ports []networkingv1.NetworkPolicyPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range ports {
		p, at := &ports[i], at.Index(i)
		errs = append(errs, kind.SupportedIfSet(at.Child("protocol"), p.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)...)
		errs = append(errs, validatePortRange(p.Port, p.EndPort, at)...)
	}
	return errs
}

// validatePortRange requires a number if an end is set.
func validatePortRange(port *intstr.IntOrString, end *int32, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	refuse := func(message string) {
		if end != nil {
			errs = append(errs, field.Invalid(at.Child("endPort"), *end, message))
		}
	}
	switch {
	case port == nil:
		refuse("may not be specified when `port` is not specified")
	case port.Type == intstr.String:
		refuse("may not be specified when `port` is non-numeric")
		errs = append(errs, kind.Invalid(at.Child("port"), port.StrVal, utilvalidation.IsValidPortName(port.StrVal))...)
	default:
		errs = kind.Invalid(at.Child("port"), port.IntVal, utilvalidation.IsValidPortNum(int(port.IntVal)))
		if end == nil {
			return errs
		}
		if *end < port.IntVal {
			errs = append(errs, field.Invalid(at.Child("endPort"), *end, "must be greater than or equal to `port`"))
		}
		errs = append(errs, kind.Invalid(at.Child("endPort"), *end, utilvalidation.IsValidPortNum(int(*end)))...)
	}
	return errs
}

func validatePeers(peers []networkingv1.NetworkPolicyPeer, known []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, peer := range peers {
		at := at.Index(i)
		errs = slices.Concat(errs,
			kind.Selector(at.Child("podSelector"), peer.PodSelector),
			kind.Selector(at.Child("namespaceSelector"), peer.NamespaceSelector),
			validateBlock(peer.IPBlock, known, at.Child("ipBlock")),
		)
		selected := peer.PodSelector != nil || peer.NamespaceSelector != nil
		switch {
		case !selected && peer.IPBlock == nil:
			errs = append(errs, field.Required(at, "must specify a peer"))
		case selected && peer.IPBlock != nil:
			errs = append(errs, field.Forbidden(at, "may not specify both ipBlock and another peer"))
		}
	}
	return errs
}

func validateBlock(block *networkingv1.IPBlock, known []string, at *field.Path) field.ErrorList {
	switch {
	case block == nil:
		return nil
	case block.CIDR == "":
		return kind.ByTag(kind.Required(at.Child("cidr"), block.CIDR))
	}
	errs := utilvalidation.IsValidCIDRForLegacyField(at.Child("cidr"), block.CIDR, true, known)
	_, whole, err := netutils.ParseCIDRSloppy(block.CIDR)
	if err != nil {
		return errs
	}
	for i, text := range block.Except {
		at := at.Child("except").Index(i)
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(at, text, true, known)...)
		_, except, err := netutils.ParseCIDRSloppy(text)
		if err != nil {
			continue
		}
		wholeBits, _ := whole.Mask.Size()
		bits, _ := except.Mask.Size()
		if !whole.Contains(except.IP) || wholeBits >= bits {
			errs = append(errs, field.Invalid(at, text, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}

// visitBlocks calls visit with all blocks of addresses in a policy.
func visitBlocks(p *networkingv1.NetworkPolicy, visit func(block *networkingv1.IPBlock, at *field.Path)) {
	each := func(peers []networkingv1.NetworkPolicyPeer, at *field.Path) {
		for i, peer := range peers {
			if peer.IPBlock != nil {
				visit(peer.IPBlock, at.Index(i).Child("ipBlock"))
			}
		}
	}
	for i, rule := range p.Spec.Ingress {
		each(rule.From, field.NewPath("spec", "ingress").Index(i).Child("from"))
	}
	for i, rule := range p.Spec.Egress {
		each(rule.To, field.NewPath("spec", "egress").Index(i).Child("to"))
	}
}
