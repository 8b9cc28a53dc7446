package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func services() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.Service{},
		List:         &corev1.ServiceList{},
		Resource:     "services",
		StoragePath:  "services/specs",
		ShortNames:   []string{"svc"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Status:       true,
		Default:      kind.Defaults(defaultService),
		Restore:      kind.Defaults(restoreService),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				ValidateName: validation.NameIsDNSLabel,
				Prepare:      kind.OnCreate(func(s *corev1.Service) { LinkServiceFields(s, nil) }),
				Validate:     kind.CheckCreate(validateNewService),
				Warnings:     kind.WarnCreate(warnOfService),
			},
			Update: registry.UpdateStrategy{
				AllowCreate:        true,
				AllowUnconditional: true,
				Prepare:            kind.OnUpdate(prepareServiceUpdate),
				Validate:           kind.CheckUpdate(validateServiceUpdate),
				Warnings:           kind.WarnAgain(warnOfService),
			},
			Delete:       registry.DeleteStrategy{ReturnObject: true},
			Canonicalize: kind.Defaults(dropInternalPolicy),
		},
		StatusStrategy: registry.UpdateStrategy{
			Validate: kind.CheckUpdate(validateServiceStatus),
			Warnings: kind.WarnAgain(warnOfServiceStatus),
		},
		FieldLabel: kind.FieldLabels("metadata.name", "metadata.namespace", "spec.clusterIP", "spec.type"),
		Fields: kind.Fields(func(s *corev1.Service) fields.Set {
			return fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
		}),
		Columns:      registry.Columns{Definitions: serviceColumns(), Row: kind.Row(serviceRow)},
		Subresources: []registry.Subresource{serviceProxy()},
	}.Build()
}

func serviceColumns() []metav1.TableColumnDefinition {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Type", "string", spec["type"]),
		kind.Column("Cluster-IP", "string", spec["clusterIP"]),
		kind.Column("External-IP", "string", spec["externalIPs"]),
		kind.Column("Port(s)", "string", spec["ports"]),
		kind.AgeColumn(),
		kind.WideColumn("Selector", "string", spec["selector"]),
	}
}

func serviceRow(s *corev1.Service) []any {
	return []any{
		s.Name, string(s.Spec.Type), cmp.Or(s.Spec.ClusterIP, kind.None), externalIPCell(s), cmp.Or(portsCell(s.Spec.Ports), kind.None),
		kind.Age(s.CreationTimestamp), labels.FormatLabels(s.Spec.Selector),
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

// ingressAddresses are the points of entry of a load balancer, each once.
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
