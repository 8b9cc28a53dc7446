package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func warningsForBlocks(p *networkingv1.NetworkPolicy) []string {
	var warnings []string
	visitBlocks(p, func(block *networkingv1.IPBlock, at *field.Path) {
		warnings = append(warnings, utilvalidation.GetWarningsForCIDR(at.Child("cidr"), block.CIDR)...)
		for i, except := range block.Except {
			warnings = append(warnings, utilvalidation.GetWarningsForCIDR(at.Child("except").Index(i), except)...)
		}
	})
	return warnings
}
