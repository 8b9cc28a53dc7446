package core

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func services(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.Service]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.Service{},
		List:                     &corev1.ServiceList{},
		Resource:                 "services",
		StoragePath:              "services/specs",
		ShortNames:               []string{"svc"},
		Categories:               []string{"all"},
		Namespaced:               true,
		Status:                   true,
		Default:                  defaultService,
		Restore:                  restoreService,
		ValidateName:             validation.NameIsDNSLabel,
		Warnings:                 warningsForService,
		Canonicalize:             dropInternalPolicy,
		PrepareForCreate:         func(_ context.Context, s *corev1.Service) { LinkServiceFields(s, nil) },
		ValidateCreate:           validateNewService,
		AllowCreateOnUpdate:      true,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         prepareServiceUpdate,
		ValidateUpdate:           validateServiceUpdate,
		ReturnDeletedObject:      true,
		ValidateStatusUpdate:     validateServiceStatus,
		WarningsOnStatusUpdate:   warningsForServiceStatus,
		FieldLabel:               kind.FieldLabels("metadata.name", "metadata.namespace", "spec.clusterIP", "spec.type"),
		Fields:                   serviceFields,
		Columns:                  serviceColumns(),
		Subresources:             []registry.Subresource{serviceProxy(features)},
	}.Build(features)
}

// ClusterIPFields are the fields with the canonical form of the first and the second cluster IP of
// a service. The server selects by them; clients cannot.
var ClusterIPFields = [...]string{"clusterIPs[0]", "clusterIPs[1]"}

func serviceFields(s *corev1.Service) fields.Set {
	set := fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
	for i, field := range ClusterIPFields {
		if i >= len(s.Spec.ClusterIPs) {
			break
		}
		if address, err := netip.ParseAddr(s.Spec.ClusterIPs[i]); err == nil { // skips None
			set[field] = address.String()
		}
	}
	return set
}

func serviceColumns() []kind.Column[*corev1.Service] {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return []kind.Column[*corev1.Service]{
		kind.NameColumn[*corev1.Service](),
		kind.TextColumn("Type", spec["type"], func(s *corev1.Service) any { return string(s.Spec.Type) }),
		kind.TextColumn("Cluster-IP", spec["clusterIP"],
			func(s *corev1.Service) any { return cmp.Or(s.Spec.ClusterIP, kind.None) }),
		kind.TextColumn("External-IP", spec["externalIPs"], func(s *corev1.Service) any { return externalIPCell(s) }),
		kind.TextColumn("Port(s)", spec["ports"],
			func(s *corev1.Service) any { return cmp.Or(portsCell(s.Spec.Ports), kind.None) }),
		kind.AgeColumn[*corev1.Service](),
		kind.WideColumn("Selector", spec["selector"],
			func(s *corev1.Service) any { return labels.FormatLabels(s.Spec.Selector) }),
	}
}

func externalIPCell(s *corev1.Service) string {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return cmp.Or(strings.Join(s.Spec.ExternalIPs, ","), kind.None)
	case corev1.ServiceTypeLoadBalancer:
		addresses := append(ingressAddresses(s.Status.LoadBalancer), s.Spec.ExternalIPs...)
		return cmp.Or(strings.Join(addresses, ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	default:
		return "<unknown>"
	}
}

// ingressAddresses returns the ingress points of a load balancer, each once.
func ingressAddresses(status corev1.LoadBalancerStatus) []string {
	var list []string
	for _, ingress := range status.Ingress {
		if address := cmp.Or(ingress.IP, ingress.Hostname); address != "" {
			list = append(list, address)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func portsCell(ports []corev1.ServicePort) string {
	var list []string
	for _, p := range ports {
		if p.NodePort > 0 {
			list = append(list, fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol))
		} else {
			list = append(list, fmt.Sprintf("%d/%s", p.Port, p.Protocol))
		}
	}
	return strings.Join(list, ",")
}
