package networking

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// defaultNetworkPolicy derives the types of a policy from its rules. A policy without rules denies
// all ingress.
func defaultNetworkPolicy(policy *networkingv1.NetworkPolicy) {
	spec := &policy.Spec
	for i := range spec.Ingress {
		defaultPolicyPorts(spec.Ingress[i].Ports)
	}
	for i := range spec.Egress {
		defaultPolicyPorts(spec.Egress[i].Ports)
	}
	if len(spec.PolicyTypes) > 0 {
		return
	}
	spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	if len(spec.Egress) > 0 {
		spec.PolicyTypes = append(spec.PolicyTypes, networkingv1.PolicyTypeEgress)
	}
}

func defaultPolicyPorts(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		kind.SetDefaultPointer(&ports[i].Protocol, corev1.ProtocolTCP)
	}
}
