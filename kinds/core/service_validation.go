package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateNewService(s *corev1.Service) field.ErrorList {
	return validateService(s, nil)
}

// validateService validates a service. old is nil for a new one.
func validateService(s, old *corev1.Service) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateTopologyMode(s.Annotations)
	errs = append(errs, validateServiceType(s, spec)...)
	errs = append(errs, validateServicePorts(s.Spec.Ports, spec.Child("ports"))...)
	errs = append(errs, metavalidation.ValidateLabels(s.Spec.Selector, spec.Child("selector"))...)
	errs = append(errs, kind.OneOf(spec.Child("sessionAffinity"), s.Spec.SessionAffinity,
		corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)...)
	errs = append(errs, validateAffinityTimeout(&s.Spec, spec.Child("sessionAffinityConfig"))...)
	errs = append(errs, ValidateServiceAddresses(s, old)...)
	errs = append(errs, validateExternalIPs(s, old, spec.Child("externalIPs"))...)
	errs = append(errs, kind.OneOf(spec.Child("type"), s.Spec.Type, corev1.ServiceTypeClusterIP,
		corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)...)
	errs = append(errs, validateNodePorts(&s.Spec, spec)...)
	errs = append(errs, validateDistinctPorts(s.Spec.Ports, spec.Child("ports"))...)
	errs = append(errs, validateSourceRanges(s, old)...)
	errs = append(errs, validateBalancer(&s.Spec, spec)...)
	return append(errs, validateTraffic(&s.Spec, spec)...)
}

// validateTopologyMode requires the same value of the annotation under its old and its new name.
func validateTopologyMode(annotations map[string]string) field.ErrorList {
	mode, ok := annotations[corev1.AnnotationTopologyMode]
	hints, older := annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	if !ok || !older || mode == hints {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "annotations").Key(corev1.AnnotationTopologyMode), mode,
		"must match annotations["+corev1.DeprecatedAnnotationTopologyAwareHints+"] when both are specified")}
}

func validateAffinityTimeout(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	const most = 86400
	c := spec.SessionAffinityConfig
	if spec.SessionAffinity != corev1.ServiceAffinityClientIP || c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
		return nil
	}
	if seconds := *c.ClientIP.TimeoutSeconds; seconds <= 0 || seconds > most {
		return field.ErrorList{field.Invalid(at.Child("clientIP", "timeoutSeconds"), seconds, fmt.Sprintf("must be greater than 0 and less than %d", most))}
	}
	return nil
}

// validateServiceType validates the fields that a type requires or forbids.
func validateServiceType(s *corev1.Service, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Spec.Ports) == 0 && !IsHeadless(s) && s.Spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(at.Child("ports"), ""))
	}
	switch {
	case HasNodePorts(&s.Spec) && IsHeadless(s):
		errs = append(errs, field.Invalid(at.Child("clusterIPs").Index(0), corev1.ClusterIPNone,
			fmt.Sprintf("may not be set to 'None' for %s services", s.Spec.Type)))
	case s.Spec.Type == corev1.ServiceTypeExternalName:
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"clusterIPs", len(s.Spec.ClusterIPs) > 0}, {"ipFamilies", len(s.Spec.IPFamilies) > 0}, {"ipFamilyPolicy", s.Spec.IPFamilyPolicy != nil},
		} {
			if f.set {
				errs = append(errs, field.Forbidden(at.Child(f.name), "may not be set for ExternalName services"))
			}
		}
		errs = append(errs, validateExternalName(s.Spec.ExternalName, at.Child("externalName"))...)
	}
	return errs
}

// validateNodePorts rejects a number that is used twice for one protocol.
func validateNodePorts(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := map[corev1.ServicePort]bool{}
	for i, p := range spec.Ports {
		at := at.Child("ports").Index(i).Child("nodePort")
		if p.NodePort == 0 {
			continue
		}
		if spec.Type == corev1.ServiceTypeClusterIP {
			errs = append(errs, field.Forbidden(at, "may not be used when `type` is 'ClusterIP'"))
		}
		key := corev1.ServicePort{Protocol: p.Protocol, NodePort: p.NodePort}
		if taken[key] {
			errs = append(errs, field.Duplicate(at, p.NodePort))
		}
		taken[key] = true
	}
	return errs
}

// validateExternalName accepts a fully qualified name with a final dot.
func validateExternalName(name string, at *field.Path) field.ErrorList {
	name = strings.TrimSuffix(name, ".")
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return kind.Invalid(at, name, utilvalidation.IsDNS1123Subdomain(name))
}

// validateServicePorts requires names if there are several ports.
func validateServicePorts(ports []corev1.ServicePort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
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
	}
	return errs
}

// validateDistinctPorts rejects a number that is used twice for one protocol.
func validateDistinctPorts(ports []corev1.ServicePort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := map[corev1.ServicePort]bool{}
	for i, p := range ports {
		key := corev1.ServicePort{Protocol: p.Protocol, Port: p.Port}
		if taken[key] {
			errs = append(errs, field.Duplicate(at.Index(i), kind.GoJSON(key)))
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
		errs = append(errs, kind.Invalid(target, p.TargetPort.IntVal, utilvalidation.IsValidPortNum(p.TargetPort.IntValue()))...)
	} else {
		errs = append(errs, kind.Invalid(target, p.TargetPort.StrVal, utilvalidation.IsValidPortName(p.TargetPort.StrVal))...)
	}
	if p.AppProtocol != nil {
		errs = append(errs, metavalidation.ValidateLabelName(*p.AppProtocol, at.Child("appProtocol"))...)
	}
	return errs
}
