package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// warningsForService returns the warnings in the order of kube-apiserver.
func warningsForService(s *corev1.Service) []string {
	var warnings []string
	if _, ok := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		warnings = append(warnings, fmt.Sprintf("annotation %s is deprecated, please use %s instead",
			corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	for _, warn := range []func(*corev1.Service) []string{
		warningsForClusterIPs, warningsForHeadless, warningsForExternalIPs, warningsForLoadBalancer, warningsForExternalName,
	} {
		warnings = append(warnings, warn(s)...)
	}
	if d := s.Spec.TrafficDistribution; d != nil && *d == corev1.ServiceTrafficDistributionPreferClose {
		warnings = append(warnings, fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q", *d, corev1.ServiceTrafficDistributionPreferSameZone))
	}
	return warnings
}

func warningsForClusterIPs(s *corev1.Service) []string {
	if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone {
		return nil
	}
	return warningsForIPs(field.NewPath("spec", "clusterIPs"), s.Spec.ClusterIPs)
}

// warningsForIPs returns warnings about addresses that are not in canonical form.
func warningsForIPs(at *field.Path, addresses []string) []string {
	var warnings []string
	for i, address := range addresses {
		warnings = append(warnings, utilvalidation.GetWarningsForIP(at.Index(i), address)...)
	}
	return warnings
}

func warningsForHeadless(s *corev1.Service) []string {
	if !withoutClusterIP(s) {
		return nil
	}
	var warnings []string
	if s.Spec.LoadBalancerIP != "" {
		warnings = append(warnings, "spec.loadBalancerIP is ignored for headless services")
	}
	if len(s.Spec.ExternalIPs) > 0 {
		warnings = append(warnings, "spec.externalIPs is ignored for headless services")
	}
	if s.Spec.SessionAffinity != corev1.ServiceAffinityNone {
		warnings = append(warnings, "spec.SessionAffinity is ignored for headless services")
	}
	return warnings
}

// withoutClusterIP reports whether a service is headless. It is false for an ExternalName service,
// whatever its clusterIP.
func withoutClusterIP(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeClusterIP && s.Spec.ClusterIP == corev1.ClusterIPNone
}

func warningsForExternalIPs(s *corev1.Service) []string {
	warnings := warningsForIPs(field.NewPath("spec", "externalIPs"), s.Spec.ExternalIPs)
	if len(s.Spec.ExternalIPs) > 0 && !withoutClusterIP(s) && s.Spec.Type != corev1.ServiceTypeExternalName {
		warnings = append(warnings, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	return warnings
}

func warningsForLoadBalancer(s *corev1.Service) []string {
	var warnings []string
	if s.Spec.LoadBalancerIP != "" {
		warnings = utilvalidation.GetWarningsForIP(field.NewPath("spec", "loadBalancerIP"), s.Spec.LoadBalancerIP)
	}
	for i, cidr := range s.Spec.LoadBalancerSourceRanges {
		warnings = append(warnings, utilvalidation.GetWarningsForCIDR(field.NewPath("spec", "loadBalancerSourceRanges").Index(i), cidr)...)
	}
	return warnings
}

func warningsForExternalName(s *corev1.Service) []string {
	switch named := s.Spec.Type == corev1.ServiceTypeExternalName; {
	case named && len(s.Spec.ExternalIPs) > 0:
		return []string{`spec.externalIPs is ignored when spec.type is "ExternalName"`}
	case !named && s.Spec.ExternalName != "":
		return []string{`spec.externalName is ignored when spec.type is not "ExternalName"`}
	default:
		return nil
	}
}

// warningsForServiceStatus leaves the name of the field out of the paths, as kube-apiserver does.
func warningsForServiceStatus(s *corev1.Service) []string {
	var warnings []string
	for i, point := range s.Status.LoadBalancer.Ingress {
		if point.IP != "" {
			warnings = append(warnings, utilvalidation.GetWarningsForIP(field.NewPath("status", "loadBalancer", "ingress").Index(i), point.IP)...)
		}
	}
	return warnings
}
