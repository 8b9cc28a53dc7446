package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func warningsForClass(i *networkingv1.Ingress) []string {
	if _, ok := i.Annotations[classAnnotation]; !ok || i.Spec.IngressClassName != nil {
		return nil
	}
	return []string{`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`}
}

func warningsForPoints(i *networkingv1.Ingress) []string {
	var warnings []string
	for n, point := range i.Status.LoadBalancer.Ingress {
		if point.IP != "" {
			at := field.NewPath("status", "loadBalancer", "ingress").Index(n).Child("ip")
			warnings = append(warnings, utilvalidation.GetWarningsForIP(at, point.IP)...)
		}
	}
	return warnings
}
