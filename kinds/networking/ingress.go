package networking

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func ingresses(features *feature.Set) *registry.Resource {
	return kind.Definition[*networkingv1.Ingress]{
		GroupVersion:             networkingv1.SchemeGroupVersion,
		Object:                   &networkingv1.Ingress{},
		List:                     &networkingv1.IngressList{},
		Resource:                 "ingresses",
		GenerateNameOnUpdate:     true,
		ShortNames:               []string{"ing"},
		Namespaced:               true,
		StoragePath:              "ingress",
		Generation:               true,
		Status:                   true,
		Validate:                 validateIngress,
		ValidateCreate:           validateNewIngress,
		WarningsOnCreate:         warningsForClass,
		AllowUnconditionalUpdate: true,
		ValidateStatusUpdate:     validateIngressStatus,
		WarningsOnStatusUpdate:   warningsForPoints,
		Columns: kind.StandardColumns(
			kind.TextColumn("Class", "The name of the IngressClass resource that should be used for additional configuration",
				func(ingress *networkingv1.Ingress) any { return ptr.Deref(ingress.Spec.IngressClassName, kind.None) }),
			kind.TextColumn("Hosts", "Hosts that incoming requests are matched against before the ingress rule",
				func(ingress *networkingv1.Ingress) any { return ingressHosts(ingress.Spec.Rules) }),
			kind.TextColumn("Address", "Address is a list containing ingress points for the load-balancer",
				func(ingress *networkingv1.Ingress) any { return ingressAddresses(ingress.Status.LoadBalancer.Ingress) }),
			kind.TextColumn("Ports", "Ports of TLS configurations that open",
				func(ingress *networkingv1.Ingress) any { return ingressPorts(ingress.Spec.TLS) }),
		),
	}.Build(features)
}

// ingressHosts lists the first three hosts. The number of the others counts rules, with or without
// a host.
func ingressHosts(rules []networkingv1.IngressRule) string {
	const limit = 3
	var hosts []string
	more := false
	for _, rule := range rules {
		switch {
		case len(hosts) == limit:
			more = true
		case rule.Host != "":
			hosts = append(hosts, rule.Host)
		}
	}
	switch {
	case len(hosts) == 0:
		return "*"
	case more:
		return fmt.Sprintf("%s + %d more...", strings.Join(hosts, ","), len(rules)-limit)
	}
	return strings.Join(hosts, ",")
}

func ingressAddresses(points []networkingv1.IngressLoadBalancerIngress) string {
	var addresses []string
	for _, point := range points {
		switch {
		case point.IP != "":
			addresses = append(addresses, point.IP)
		case point.Hostname != "":
			addresses = append(addresses, point.Hostname)
		}
	}
	slices.Sort(addresses)
	return strings.Join(slices.Compact(addresses), ",")
}

func ingressPorts(tls []networkingv1.IngressTLS) string {
	if len(tls) > 0 {
		return "80, 443"
	}
	return "80"
}
