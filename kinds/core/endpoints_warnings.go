package core

import (
	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func warningsForEndpoints(e *corev1.Endpoints) []string {
	var warnings []string
	check := func(addresses []corev1.EndpointAddress, at *field.Path) {
		for i := range addresses {
			warnings = append(warnings, utilvalidation.GetWarningsForIP(at.Index(i).Child("ip"), addresses[i].IP)...)
		}
	}
	for i := range e.Subsets {
		at := field.NewPath("subsets").Index(i)
		check(e.Subsets[i].Addresses, at.Child("addresses"))
		check(e.Subsets[i].NotReadyAddresses, at.Child("notReadyAddresses"))
	}
	return warnings
}
