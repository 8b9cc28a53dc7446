package networking

import (
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// defaultIngressClass sets the scope of parameters to the cluster.
func defaultIngressClass(class *networkingv1.IngressClass) {
	if class.Spec.Parameters != nil {
		kind.SetDefaultPointer(&class.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
	}
}
