package networking

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

const cidrsDescription = `CIDRs defines the IP blocks in CIDR notation (e.g. "192.168.0.0/24" or "2001:db8::/64") ` +
	"from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable."

func serviceCIDRs() *registry.Resource {
	return kind.Definition{
		GroupVersion: networkingv1.SchemeGroupVersion,
		Object:       &networkingv1.ServiceCIDR{},
		List:         &networkingv1.ServiceCIDRList{},
		Resource:     "servicecidrs",
		Finalizers:   kind.Finalizers,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateCIDRs)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validateCIDRsUpdate)},
		},
		StatusStrategy: kind.BareStatus(),
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("CIDRs", "string", cidrsDescription),
				kind.AgeColumn(),
			},
			Row: kind.Row(serviceCIDRRow),
		},
	}.Build()
}

func serviceCIDRRow(cidr *networkingv1.ServiceCIDR) []any {
	return []any{cidr.Name, strings.Join(cidr.Spec.CIDRs, ","), kind.Age(cidr.CreationTimestamp)}
}
