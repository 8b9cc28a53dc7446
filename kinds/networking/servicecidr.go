package networking

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

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
			kind.TextColumn("CIDRs", kind.FieldDoc(features, networkingv1.ServiceCIDRSpec{}.SwaggerDoc()["cidrs"], "cidrs", "CIDRs"),
				func(cidr *networkingv1.ServiceCIDR) any { return strings.Join(cidr.Spec.CIDRs, ",") }),
		),
	}.Build(features)
}
