package core

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func prepareServiceUpdate(_ context.Context, s, old *corev1.Service) {
	LinkServiceFields(s, old)
	dropTypeDependentFields(s, old)
}

// dropTypeDependentFields drops allocated and default values that do not belong to the new type of
// a service, unless the client has changed them.
func dropTypeDependentFields(s, old *corev1.Service) {
	now, was := &s.Spec, &old.Spec
	if isExternallyAccessible(was) && !isExternallyAccessible(now) && now.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		now.ExternalTrafficPolicy = ""
	}
	if hasClusterIP(was) && !hasClusterIP(now) {
		dropAddresses(now, was)
	}
	if HasNodePorts(was) && !HasNodePorts(now) && addsNoNodePort(now, was) {
		for i := range now.Ports {
			now.Ports[i].NodePort = 0
		}
	}
	if HasHealthCheck(was) && !HasHealthCheck(now) && now.HealthCheckNodePort == was.HealthCheckNodePort {
		now.HealthCheckNodePort = 0
	}
	if now.Type == corev1.ServiceTypeLoadBalancer {
		return
	}
	s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	if was.Type != corev1.ServiceTypeLoadBalancer {
		return
	}
	if ptr.Equal(now.AllocateLoadBalancerNodePorts, was.AllocateLoadBalancerNodePorts) {
		now.AllocateLoadBalancerNodePorts = nil
	}
	if ptr.Equal(now.LoadBalancerClass, was.LoadBalancerClass) {
		now.LoadBalancerClass = nil
	}
}

func dropAddresses(now, was *corev1.ServiceSpec) {
	if now.ClusterIP == was.ClusterIP && slices.Equal(now.ClusterIPs, was.ClusterIPs) {
		now.ClusterIP, now.ClusterIPs = "", nil
	}
	if slices.Equal(now.IPFamilies, was.IPFamilies) {
		now.IPFamilies = nil
	}
	if ptr.Equal(now.IPFamilyPolicy, was.IPFamilyPolicy) {
		now.IPFamilyPolicy = nil
	}
}

func addsNoNodePort(now, was *corev1.ServiceSpec) bool {
	return !slices.ContainsFunc(now.Ports, func(p corev1.ServicePort) bool {
		return p.NodePort != 0 && !slices.ContainsFunc(was.Ports, func(q corev1.ServicePort) bool { return p.NodePort == q.NodePort })
	})
}

func hasClusterIP(spec *corev1.ServiceSpec) bool { return spec.Type != corev1.ServiceTypeExternalName }

// HasNodePorts reports whether every node forwards the ports of a service.
func HasNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
}

// GetsNodePorts reports whether ports without a node port get one.
func GetsNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort ||
		spec.Type == corev1.ServiceTypeLoadBalancer && ptr.Deref(spec.AllocateLoadBalancerNodePorts, true)
}

// HasHealthCheck reports whether a load balancer checks which nodes have endpoints.
func HasHealthCheck(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}
