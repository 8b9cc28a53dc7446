package bootstrap

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/core"
)

// networkObjects returns the objects that depend on the addresses of the server.
func networkObjects(now metav1.Time, cfg Config) []runtime.Object {
	objects := []runtime.Object{serviceCIDR(now, cfg.ServiceRanges)}
	if cfg.Advertise.IsValid() && !cfg.Advertise.IsLoopback() {
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

func endpoints(cfg Config) *corev1.Endpoints {
	object := &corev1.Endpoints{
		ObjectMeta: kubernetesMeta(),
		Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: cfg.Advertise.String()}},
			Ports:     []corev1.EndpointPort{{Name: "https", Port: int32(cfg.Port), Protocol: corev1.ProtocolTCP}},
		}},
	}
	object.Labels = map[string]string{discoveryv1.LabelSkipMirror: "true"}
	return object
}

func endpointSlice(cfg Config) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  kubernetesMeta(),
		AddressType: discoveryv1.AddressType(core.FamilyOf(cfg.Advertise.String())),
		Endpoints: []discoveryv1.Endpoint{{
			Addresses:  []string{cfg.Advertise.String()},
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)},
		}},
		Ports: []discoveryv1.EndpointPort{{
			Name:     ptr.To("https"),
			Port:     ptr.To(int32(cfg.Port)),
			Protocol: ptr.To(corev1.ProtocolTCP),
		}},
	}
	slice.Generation = 1
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: "kubernetes"}
	return slice
}
