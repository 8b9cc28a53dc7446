package discovery

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultEndpointSlice(slice *discoveryv1.EndpointSlice) {
	for i := range slice.Ports {
		kind.SetDefaultPointer(&slice.Ports[i].Name, "")
		kind.SetDefaultPointer(&slice.Ports[i].Protocol, corev1.ProtocolTCP)
	}
}
