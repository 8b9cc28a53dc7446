package bootstrap

import (
	"net/netip"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// networkObjects returns the objects that depend on the addresses of the server.
func networkObjects(now metav1.Time, cfg Config) []runtime.Object {
	objects := []runtime.Object{serviceCIDR(now, cfg.ServiceRanges)}
	if cfg.hasEndpoints() {
		objects = append(objects, endpoints(cfg), endpointSlice(cfg))
	}
	return objects
}

func serviceCIDR(now metav1.Time, ranges []netip.Prefix) *networkingv1.ServiceCIDR {
	cidr := &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"},
		Status: networkingv1.ServiceCIDRStatus{Conditions: []metav1.Condition{{
			Type:               networkingv1.ServiceCIDRConditionReady,
			Status:             metav1.ConditionTrue,
			LastTransitionTime: now,
			Message:            "Kubernetes default Service CIDR is ready",
		}}},
	}
	for _, r := range ranges {
		cidr.Spec.CIDRs = append(cidr.Spec.CIDRs, r.Masked().String())
	}
	return cidr
}
