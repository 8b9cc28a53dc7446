package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultService(s *corev1.Service) {
	spec := &s.Spec
	kind.SetDefault(&spec.Type, corev1.ServiceTypeClusterIP)
	defaultAffinity(spec)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		kind.SetDefault(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if isExternallyAccessible(spec) {
		kind.SetDefault(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeClusterIP || HasNodePorts(spec) {
		kind.SetDefaultPointer(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		kind.SetDefaultPointer(&spec.AllocateLoadBalancerNodePorts, true)
		defaultIngressMode(s.Status.LoadBalancer.Ingress)
	}
}

// restoreService sets clusterIPs, which older releases did not store.
func restoreService(s *corev1.Service) {
	defaultService(s)
	LinkServiceFields(s, nil)
	dropInternalPolicy(s)
}

// dropInternalPolicy drops internalTrafficPolicy from a service without a cluster IP. It is not an
// error, because older releases set it as a default.
func dropInternalPolicy(s *corev1.Service) {
	if !hasClusterIP(&s.Spec) {
		s.Spec.InternalTrafficPolicy = nil
	}
}

// defaultAffinity sets the default timeout of client affinity, and drops a timeout without
// affinity.
func defaultAffinity(spec *corev1.ServiceSpec) {
	kind.SetDefault(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		c := spec.SessionAffinityConfig
		if c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{
				ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(corev1.DefaultClientIPServiceAffinitySeconds)},
			}
		}
	}
}

// isExternallyAccessible reports whether traffic from outside of the cluster reaches the service.
func isExternallyAccessible(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer || spec.Type == corev1.ServiceTypeNodePort ||
		spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0
}

func defaultIngressMode(ingresses []corev1.LoadBalancerIngress) {
	for i := range ingresses {
		if ingresses[i].IP != "" {
			kind.SetDefaultPointer(&ingresses[i].IPMode, corev1.LoadBalancerIPModeVIP)
		}
	}
}
