package discovery

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// The limits of a slice.
const (
	mostEndpoints = 1000
	mostAddresses = 100
	mostPorts     = 20000
	mostTopology  = 16
	mostHints     = 8
)

func validateNewSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	return append(validateSlice(s), validateEndpoints(s, field.NewPath("endpoints"))...)
}

// validateSliceUpdate accepts unchanged endpoints that are invalid.
func validateSliceUpdate(s, old *discoveryv1.EndpointSlice, features *feature.Set) field.ErrorList {
	errs := validateSlice(s)
	if !equality.Semantic.DeepEqual(s.Endpoints, old.Endpoints) {
		errs = append(errs, validateEndpoints(s, field.NewPath("endpoints"))...)
	}
	return append(errs, kind.ImmutableByTag(features, field.NewPath("addressType"), s.AddressType, old.AddressType)...)
}

func validateSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	return slices.Concat(
		kind.OneOf(field.NewPath("addressType"), s.AddressType,
			discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6),
		validatePorts(s.Ports, field.NewPath("ports")),
	)
}

func validateEndpoints(s *discoveryv1.EndpointSlice, at *field.Path) field.ErrorList {
	if n := len(s.Endpoints); n > mostEndpoints {
		return field.ErrorList{field.TooMany(at, n, mostEndpoints)}
	}
	var errs field.ErrorList
	for i := range s.Endpoints {
		e, at := &s.Endpoints[i], at.Index(i)
		errs = slices.Concat(errs,
			validateAddresses(e.Addresses, s.AddressType, at.Child("addresses")),
			validateName(e.NodeName, at.Child("nodeName"), utilvalidation.IsDNS1123Subdomain),
			validateTopology(e.DeprecatedTopology, at.Child("deprecatedTopology")),
			validateName(e.Hostname, at.Child("hostname"), utilvalidation.IsDNS1123Label),
			validateHints(e.Hints, at.Child("hints")),
		)
	}
	return errs
}

func validateName(name *string, at *field.Path, form func(string) []string) field.ErrorList {
	if name == nil {
		return nil
	}
	return kind.Invalid(at, *name, form(*name))
}

func validateTopology(topology map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := len(topology); n > mostTopology {
		errs = append(errs, field.TooMany(at, n, mostTopology))
	}
	return append(errs, metavalidation.ValidateLabels(topology, at)...)
}

func validateAddresses(addresses []string, typ discoveryv1.AddressType, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch n := len(addresses); {
	case n == 0:
		errs = append(errs, kind.ByTag(field.ErrorList{field.Required(at, "must contain at least 1 address")})...)
	case n > mostAddresses:
		errs = append(errs, field.TooMany(at, n, mostAddresses))
	}
	for i, address := range addresses {
		switch typ {
		case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
			errs = append(errs, validateAddress(address, typ, at, at.Index(i))...)
		case discoveryv1.AddressTypeFQDN:
			errs = append(errs, utilvalidation.IsFullyQualifiedDomainName(at.Index(i), address)...)
		}
	}
	return errs
}

// validateAddress requires an address of the slice's family that other hosts can reach. The error
// for the other family is about the list.
func validateAddress(address string, family discoveryv1.AddressType, list, at *field.Path) field.ErrorList {
	errs := utilvalidation.IsValidIP(at, address)
	if family == discoveryv1.AddressTypeIPv4 {
		errs = utilvalidation.IsValidIPForLegacyField(at, address, true, nil)
	}
	ip := netutils.ParseIPSloppy(address)
	if len(errs) > 0 || ip == nil {
		return errs
	}
	if netutils.IsIPv4(ip) != (family == discoveryv1.AddressTypeIPv4) {
		errs = append(errs, field.Invalid(list, address, fmt.Sprintf("must be an %s address", family)))
	}
	refuse := func(wrong bool, message string) {
		if wrong {
			errs = append(errs, field.Invalid(at, address, message))
		}
	}
	refuse(ip.IsUnspecified(), fmt.Sprintf("may not be unspecified (%s)", address))
	refuse(ip.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	refuse(ip.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	refuse(ip.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	return errs
}

func validatePorts(ports []discoveryv1.EndpointPort, at *field.Path) field.ErrorList {
	if n := len(ports); n > mostPorts {
		return field.ErrorList{field.TooMany(at, n, mostPorts)}
	}
	var errs field.ErrorList
	names := sets.New[string]()
	for i, p := range ports {
		at := at.Index(i)
		name := ptr.Deref(p.Name, "")
		if name != "" {
			errs = append(errs, kind.Invalid(at.Child("name"), name, utilvalidation.IsDNS1123Label(name))...)
		}
		if names.Has(name) {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		}
		names.Insert(name)
		errs = append(errs, kind.SupportedIfSet(at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
		errs = append(errs, validateName(p.AppProtocol, at.Child("appProtocol"), utilvalidation.IsQualifiedName)...)
	}
	return errs
}

func validateHints(hints *discoveryv1.EndpointHints, at *field.Path) field.ErrorList {
	if hints == nil {
		return nil
	}
	var zones, nodes []string
	for _, z := range hints.ForZones {
		zones = append(zones, z.Name)
	}
	for _, n := range hints.ForNodes {
		nodes = append(nodes, n.Name)
	}
	return slices.Concat(
		validateHinted(zones, at.Child("forZones"), utilvalidation.IsValidLabelValue),
		validateHinted(nodes, at.Child("forNodes"), utilvalidation.IsDNS1123Subdomain),
	)
}

func validateHinted(names []string, at *field.Path, form func(string) []string) field.ErrorList {
	if n := len(names); n > mostHints {
		return field.ErrorList{field.TooMany(at, n, mostHints)}
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, name := range names {
		at := at.Index(i).Child("name")
		if seen.Has(name) {
			errs = append(errs, field.Duplicate(at, name))
		}
		seen.Insert(name)
		errs = append(errs, kind.Invalid(at, name, form(name))...)
	}
	return errs
}
