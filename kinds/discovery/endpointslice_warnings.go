package discovery

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func warningsForNewSlice(s *discoveryv1.EndpointSlice) []string {
	var warnings []string
	if s.AddressType == discoveryv1.AddressTypeFQDN {
		warnings = append(warnings, "spec.addressType: FQDN endpoints are deprecated")
	}
	return append(warnings, warningsForAddresses(s)...)
}

// warningsForAddresses skips the slices of the two controllers that write canonical addresses.
func warningsForAddresses(s *discoveryv1.EndpointSlice) []string {
	switch s.Labels[discoveryv1.LabelManagedBy] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return nil
	}
	if s.AddressType == discoveryv1.AddressTypeFQDN {
		return nil
	}
	var warnings []string
	for i, endpoint := range s.Endpoints {
		for j, address := range endpoint.Addresses {
			path := field.NewPath("endpoints").Index(i).Child("addresses").Index(j)
			warnings = append(warnings, utilvalidation.GetWarningsForIP(path, address)...)
		}
	}
	return warnings
}
