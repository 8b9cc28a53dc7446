package networking

import (
	"reflect"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// networkPolicyChanged distinguishes a nil list from an empty one, as kube-apiserver does.
func networkPolicyChanged(policy, old *networkingv1.NetworkPolicy) bool {
	return !reflect.DeepEqual(policy.Spec, old.Spec)
}

func networkPolicies(features *feature.Set) *registry.Resource {
	return kind.Definition[*networkingv1.NetworkPolicy]{
		GroupVersion:             networkingv1.SchemeGroupVersion,
		Object:                   &networkingv1.NetworkPolicy{},
		List:                     &networkingv1.NetworkPolicyList{},
		Resource:                 "networkpolicies",
		Default:                  defaultNetworkPolicy,
		ShortNames:               []string{"netpol"},
		Namespaced:               true,
		Generation:               true,
		Changed:                  networkPolicyChanged,
		Warnings:                 warningsForBlocks,
		ValidateCreate:           validateNetworkPolicy,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateNetworkPolicyUpdate,
		Columns: kind.StandardColumns(
			kind.TextColumn("Pod-Selector", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"],
				func(policy *networkingv1.NetworkPolicy) any {
					return metav1.FormatLabelSelector(&policy.Spec.PodSelector)
				}),
		),
	}.Build(features)
}
