package discovery

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newSlice() *discoveryv1.EndpointSlice { return slice("10.0.0.1") }

func TestAddresses(t *testing.T) {
	type endpoints = discoveryv1.EndpointSlice
	const at = "endpoints[0].addresses"
	check := registrytest.Rules(t, newSlice, validateNewSlice)
	address := func(typ discoveryv1.AddressType, addresses ...string) func(*endpoints) {
		return func(s *endpoints) { s.AddressType, s.Endpoints[0].Addresses = typ, addresses }
	}
	check("an address is required", address("IPv4"), at+": Required value: must contain at least 1 address")
	check("address types are known", func(s *endpoints) { s.AddressType = "x" },
		`addressType: Unsupported value: "x": supported values: "FQDN", "IPv4", "IPv6"`)
	check("FQDN addresses", address("FQDN", "a.exam.org"))
	check("addresses are valid", address("IPv4", "x"),
		at+`[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`)
	check("addresses have the family of the type", address("IPv6", "10.0.0.1"), at+`: Invalid value: "10.0.0.1": must be an IPv6 address`)
	check("unspecified addresses are rejected", address("IPv4", "0.0.0.0"), at+`[0]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)`)
	check("loopback addresses are rejected", address("IPv6", "::1"),
		at+`[0]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)`)
	check("link-local addresses are rejected", address("IPv4", "169.254.169.254"),
		at+`[0]: Invalid value: "169.254.169.254": may not be in the link-local range (169.254.0.0/16, fe80::/10)`)
	stored := slice("010.0.0.1")
	if got := registrytest.Texts(validateNewSlice(stored)); len(got) != 1 {
		t.Errorf("leading zeros: %q", got)
	}
	if got := registrytest.Texts(validateSliceUpdate(stored, stored, feature.Default())); got != nil {
		t.Errorf("leading zeros that were there: %q", got)
	}
}

func TestPortsAndHints(t *testing.T) {
	type endpoints = discoveryv1.EndpointSlice
	check := registrytest.Rules(t, newSlice, validateNewSlice)
	check("port names are unique", func(s *endpoints) { s.Ports = make([]discoveryv1.EndpointPort, 2) },
		`ports[1].name: Duplicate value: ""`)
	check("protocols are known", func(s *endpoints) {
		s.Ports = []discoveryv1.EndpointPort{{Protocol: new(corev1.Protocol("x")), AppProtocol: new("h2")}}
	}, `ports[0].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"`)
	check("zones of hints are unique", func(s *endpoints) {
		s.Endpoints[0].Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: "a"}, {Name: "a"}}}
	}, `endpoints[0].hints.forZones[1].name: Duplicate value: "a"`)
	check("hints have at most eight zones", func(s *endpoints) {
		s.Endpoints[0].Hints = &discoveryv1.EndpointHints{ForZones: make([]discoveryv1.ForZone, 9)}
	}, "endpoints[0].hints.forZones: Too many: 9: must have at most 8 items")
	check("too many endpoints are not validated", func(s *endpoints) { s.Endpoints = make([]discoveryv1.Endpoint, 1001) },
		"endpoints: Too many: 1001: must have at most 1000 items")
}
