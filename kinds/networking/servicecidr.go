package networking

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

const cidrsDescription = `CIDRs defines the IP blocks in CIDR notation (e.g. "192.168.0.0/24" or "2001:db8::/64") ` +
	"from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable."

func serviceCIDRs(features *feature.Set) *registry.Resource {
	return kind.Definition[*networkingv1.ServiceCIDR]{
		GroupVersion:             networkingv1.SchemeGroupVersion,
		Object:                   &networkingv1.ServiceCIDR{},
		List:                     &networkingv1.ServiceCIDRList{},
		Resource:                 "servicecidrs",
		Status:                   true,
		ValidateCreate:           validateCIDRs,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateCIDRsUpdate,
		StatusKeepsMetadata:      true,
		Columns: kind.StandardColumns(
			kind.TextColumn("CIDRs", cidrsDescription,
				func(cidr *networkingv1.ServiceCIDR) any { return strings.Join(cidr.Spec.CIDRs, ",") }),
		),
	}.Build(features)
}
