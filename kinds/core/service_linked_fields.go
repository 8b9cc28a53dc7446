package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// LinkServiceFields synchronizes fields that hold the same value, and restores allocated values
// that an update leaves out. old is nil for a new service.
func LinkServiceFields(s, old *corev1.Service) {
	now := &s.Spec
	if old == nil {
		if now.ClusterIP != "" && len(now.ClusterIPs) == 0 {
			now.ClusterIPs = []string{now.ClusterIP}
		}
		return
	}
	was := &old.Spec
	if hasClusterIP(was) && hasClusterIP(now) {
		if now.ClusterIP == "" {
			now.ClusterIP = was.ClusterIP
		}
		if len(now.ClusterIPs) == 0 {
			now.ClusterIPs = slices.Clone(was.ClusterIPs)
		}
	}
	if GetsNodePorts(was) && GetsNodePorts(now) {
		keepNodePorts(now, was)
	}
	if HasHealthCheck(was) && HasHealthCheck(now) && now.HealthCheckNodePort == 0 {
		now.HealthCheckNodePort = was.HealthCheckNodePort
	}
	linkAddresses(now, was)
}

// keepNodePorts restores the node port of a port with the same name, unless another port uses it.
func keepNodePorts(now, was *corev1.ServiceSpec) {
	for i := range now.Ports {
		p := &now.Ports[i]
		if p.NodePort != 0 {
			continue
		}
		at := slices.IndexFunc(was.Ports, func(q corev1.ServicePort) bool { return q.Name == p.Name })
		if at < 0 || slices.ContainsFunc(now.Ports, func(q corev1.ServicePort) bool { return q.NodePort == was.Ports[at].NodePort }) {
			continue
		}
		p.NodePort = was.Ports[at].NodePort
	}
}

// linkAddresses changes both fields for a client that sets only clusterIP.
func linkAddresses(now, was *corev1.ServiceSpec) {
	if len(now.ClusterIPs) == 0 && now.ClusterIP == was.ClusterIP {
		now.ClusterIPs = slices.Clone(was.ClusterIPs)
	}
	if now.ClusterIP == was.ClusterIP || !slices.Equal(now.ClusterIPs, was.ClusterIPs) {
		return
	}
	now.ClusterIPs = nil
	if now.ClusterIP != "" {
		now.ClusterIPs = []string{now.ClusterIP}
	}
}
