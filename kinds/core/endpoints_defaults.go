package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultEndpoints(e *corev1.Endpoints) {
	for i := range e.Subsets {
		ports := e.Subsets[i].Ports
		for j := range ports {
			kind.SetDefault(&ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}
