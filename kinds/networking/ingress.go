package networking

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func ingresses() *registry.Resource {
	return kind.Definition{
		GroupVersion: networkingv1.SchemeGroupVersion,
		Object:       &networkingv1.Ingress{},
		List:         &networkingv1.IngressList{},
		Resource:     "ingresses",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"ing"},
		Namespaced:   true,
		StoragePath:  "ingress",
		Generation:   true,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateNewIngress), Warnings: kind.WarnCreate(warnOfClass)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckAgain(validateIngress)},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateIngressStatus), Warnings: kind.WarnAgain(warnOfPoints)},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Class", "string", "The name of the IngressClass resource that should be used for additional configuration"),
				kind.Column("Hosts", "string", "Hosts that incoming requests are matched against before the ingress rule"),
				kind.Column("Address", "string", "Address is a list containing ingress points for the load-balancer"),
				kind.Column("Ports", "string", "Ports of TLS configurations that open"),
				kind.AgeColumn(),
			},
			Row: kind.Row(ingressRow),
		},
	}.Build()
}

func ingressRow(ingress *networkingv1.Ingress) []any {
	class := "<none>"
	if ingress.Spec.IngressClassName != nil {
		class = *ingress.Spec.IngressClassName
	}
	ports := "80"
	if len(ingress.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	return []any{
		ingress.Name,
		class,
		ingressHosts(ingress.Spec.Rules),
		ingressAddresses(ingress.Status.LoadBalancer.Ingress),
		ports,
		kind.Age(ingress.CreationTimestamp),
	}
}

// ingressHosts lists the first three hosts. How many more there are is counted
// in rules, with or without a host.
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
