package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateService(s *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	headless := s.Spec.ClusterIP == corev1.ClusterIPNone || len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone
	if len(s.Spec.Ports) == 0 && !headless && s.Spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(spec.Child("ports"), ""))
	}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		errs = append(errs, validateExternalName(s.Spec.ExternalName, spec.Child("externalName"))...)
	}
	errs = append(errs, validateServicePorts(s.Spec.Ports, spec.Child("ports"))...)
	errs = append(errs, metavalidation.ValidateLabels(s.Spec.Selector, spec.Child("selector"))...)
	errs = append(errs, kind.OneOf(spec.Child("sessionAffinity"), s.Spec.SessionAffinity,
		corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)...)
	return append(errs, kind.OneOf(spec.Child("type"), s.Spec.Type, corev1.ServiceTypeClusterIP,
		corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)...)
}

// validateExternalName allows the dot at the end of a full name.
func validateExternalName(name string, at *field.Path) field.ErrorList {
	name = strings.TrimSuffix(name, ".")
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return kind.Invalid(at, name, utilvalidation.IsDNS1123Subdomain(name))
}

// validateServicePorts wants names to tell ports apart by where there are
// several.
func validateServicePorts(ports []corev1.ServicePort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
	taken := map[corev1.ServicePort]bool{}
	for i := range ports {
		p, at := &ports[i], at.Index(i)
		switch {
		case p.Name == "" && len(ports) > 1:
			errs = append(errs, field.Required(at.Child("name"), ""))
		case p.Name != "":
			errs = append(errs, kind.Invalid(at.Child("name"), p.Name, utilvalidation.IsDNS1123Label(p.Name))...)
			if names.Has(p.Name) {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names.Insert(p.Name)
		}
		errs = append(errs, validateServicePort(p, at)...)
		key := corev1.ServicePort{Protocol: p.Protocol, Port: p.Port}
		if taken[key] {
			errs = append(errs, field.Duplicate(at, kind.GoJSON(key)))
		}
		taken[key] = true
	}
	return errs
}

func validateServicePort(p *corev1.ServicePort, at *field.Path) field.ErrorList {
	errs := kind.Invalid(at.Child("port"), p.Port, utilvalidation.IsValidPortNum(int(p.Port)))
	errs = append(errs, kind.OneOf(at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	target := at.Child("targetPort")
	if p.TargetPort.Type == intstr.Int {
		return append(errs, kind.Invalid(target, p.TargetPort.IntVal, utilvalidation.IsValidPortNum(p.TargetPort.IntValue()))...)
	}
	return append(errs, kind.Invalid(target, p.TargetPort.StrVal, utilvalidation.IsValidPortName(p.TargetPort.StrVal))...)
}
