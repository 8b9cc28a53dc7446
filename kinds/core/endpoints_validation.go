package core

import (
	"net"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateEndpoints(e *corev1.Endpoints) field.ErrorList {
	var errs field.ErrorList
	for i := range e.Subsets {
		s, at := &e.Subsets[i], field.NewPath("subsets").Index(i)
		if len(s.Addresses)+len(s.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(at, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j := range s.Addresses {
			errs = append(errs, validateEndpointAddress(&s.Addresses[j], at.Child("addresses").Index(j))...)
		}
		for j := range s.NotReadyAddresses {
			errs = append(errs, validateEndpointAddress(&s.NotReadyAddresses[j], at.Child("notReadyAddresses").Index(j))...)
		}
		for j := range s.Ports {
			errs = append(errs, validateEndpointPort(&s.Ports[j], len(s.Ports) > 1, at.Child("ports").Index(j))...)
		}
	}
	return errs
}

func validateEndpointAddress(a *corev1.EndpointAddress, at *field.Path) field.ErrorList {
	errs := utilvalidation.IsValidIPForLegacyField(at.Child("ip"), a.IP, true, nil)
	if a.Hostname != "" {
		errs = append(errs, kind.Invalid(at.Child("hostname"), a.Hostname, utilvalidation.IsDNS1123Label(a.Hostname))...)
	}
	if name := a.NodeName; name != nil {
		errs = append(errs, kind.Invalid(at.Child("nodeName"), *name, validation.NameIsDNSSubdomain(*name, false))...)
	}
	return append(errs, validateOrdinaryIP(a.IP, at.Child("ip"))...)
}

// validateOrdinaryIP rejects addresses in the network of a node, such as loopback addresses.
func validateOrdinaryIP(address string, at *field.Path) field.ErrorList {
	ip := netutils.ParseIPSloppy(address)
	if ip == nil {
		return field.ErrorList{field.Invalid(at, address, "must be a valid IP address")}
	}
	var errs field.ErrorList
	for _, special := range []struct {
		is      func(net.IP) bool
		message string
	}{
		{net.IP.IsUnspecified, "may not be unspecified (" + address + ")"},
		{net.IP.IsLoopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{net.IP.IsLinkLocalUnicast, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{net.IP.IsLinkLocalMulticast, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if special.is(ip) {
			errs = append(errs, field.Invalid(at, address, special.message))
		}
	}
	return errs
}

func validateEndpointPort(p *corev1.EndpointPort, several bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p.Name == "" && several {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	if p.Name != "" {
		errs = append(errs, kind.Invalid(at.Child("name"), p.Name, utilvalidation.IsDNS1123Label(p.Name))...)
	}
	errs = append(errs, kind.Invalid(at.Child("port"), p.Port, utilvalidation.IsValidPortNum(int(p.Port)))...)
	errs = append(errs, kind.OneOf(at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	if name := p.AppProtocol; name != nil {
		errs = append(errs, kind.Invalid(at.Child("appProtocol"), *name, utilvalidation.IsQualifiedName(*name))...)
	}
	return errs
}
