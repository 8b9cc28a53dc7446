package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The validation of traffic policies and of load balancers.

const loadBalancersOnly = "may only be used when `type` is 'LoadBalancer'"

// validateExternalIPs does not validate addresses of old, which may be nil.
func validateExternalIPs(s, old *corev1.Service, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var had []string
	if old != nil {
		had = old.Spec.ExternalIPs
	}
	for i, ip := range s.Spec.ExternalIPs {
		ipErrs := utilvalidation.IsValidIPForLegacyField(at.Index(i), ip, true, had)
		if len(ipErrs) == 0 {
			ipErrs = validateOrdinaryIP(ip, at.Index(i))
		}
		errs = append(errs, ipErrs...)
	}
	return errs
}

// validateSourceRanges validates the ranges of clients of a load balancer, which are in the spec or
// in an older annotation. Blanks around a range are accepted, and so are the ranges of old.
func validateSourceRanges(s, old *corev1.Service) field.ErrorList {
	at, ranges, had := field.NewPath("spec", "LoadBalancerSourceRanges"), s.Spec.LoadBalancerSourceRanges, []string(nil)
	if old != nil {
		had = trimmed(old.Spec.LoadBalancerSourceRanges)
	}
	place := at.Index
	if len(ranges) == 0 {
		text, ok := s.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
		if !ok {
			return nil
		}
		at = field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
		place = func(int) *field.Path { return at }
		if strings.TrimSpace(text) != "" && (old == nil || old.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey] != text) {
			ranges, had = strings.Split(text, ","), nil
		}
	}
	var errs field.ErrorList
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		errs = append(errs, field.Forbidden(at, loadBalancersOnly))
	}
	for i, cidr := range trimmed(ranges) {
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(place(i), cidr, true, had)...)
	}
	return errs
}

func trimmed(texts []string) []string {
	var list []string
	for _, text := range texts {
		list = append(list, strings.TrimSpace(text))
	}
	return list
}

// validateBalancer validates the fields of a load balancer.
func validateBalancer(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	isBalancer := spec.Type == corev1.ServiceTypeLoadBalancer
	switch {
	case !isBalancer && spec.AllocateLoadBalancerNodePorts != nil:
		errs = append(errs, field.Forbidden(at.Child("allocateLoadBalancerNodePorts"), loadBalancersOnly))
	case isBalancer && spec.AllocateLoadBalancerNodePorts == nil:
		errs = append(errs, field.Required(field.NewPath("allocateLoadBalancerNodePorts"), ""))
	}
	return append(errs, validateBalancerClass(spec, at.Child("loadBalancerClass"))...)
}

func validateBalancerClass(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	switch {
	case spec.LoadBalancerClass == nil:
		return nil
	case spec.Type != corev1.ServiceTypeLoadBalancer:
		return field.ErrorList{field.Forbidden(at, loadBalancersOnly)}
	}
	return metavalidation.ValidateLabelName(*spec.LoadBalancerClass, at)
}

// validateTraffic validates the traffic policies.
func validateTraffic(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	external, port := at.Child("externalTrafficPolicy"), at.Child("healthCheckNodePort")
	switch {
	case isExternallyAccessible(spec):
		errs = append(errs, kind.OneOf(external, spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	case spec.ExternalTrafficPolicy != "":
		errs = append(errs, field.Invalid(external, spec.ExternalTrafficPolicy, "may only be set for externally-accessible services"))
	}
	switch {
	case spec.HealthCheckNodePort == 0:
	case HasHealthCheck(spec):
		errs = append(errs, kind.Invalid(port, spec.HealthCheckNodePort, utilvalidation.IsValidPortNum(int(spec.HealthCheckNodePort)))...)
	default:
		errs = append(errs, field.Invalid(port, spec.HealthCheckNodePort,
			"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	}
	errs = append(errs, kind.SupportedIfSet(at.Child("internalTrafficPolicy"), spec.InternalTrafficPolicy,
		corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	return append(errs, kind.SupportedIfSet(at.Child("trafficDistribution"), spec.TrafficDistribution,
		corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)...)
}
