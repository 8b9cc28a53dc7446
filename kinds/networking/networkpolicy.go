package networking

import (
	"reflect"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// networkPolicyChanged tells no list from an empty one, as kube-apiserver does.
func networkPolicyChanged(obj, old runtime.Object) bool {
	return !reflect.DeepEqual(obj.(*networkingv1.NetworkPolicy).Spec, old.(*networkingv1.NetworkPolicy).Spec)
}

func networkPolicies() *registry.Resource {
	return kind.Definition{
		GroupVersion: networkingv1.SchemeGroupVersion,
		Object:       &networkingv1.NetworkPolicy{},
		List:         &networkingv1.NetworkPolicyList{},
		Resource:     "networkpolicies",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultNetworkPolicy),
		ShortNames:   []string{"netpol"},
		Namespaced:   true,
		Generation:   true,
		Changed:      networkPolicyChanged,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateNetworkPolicy), Warnings: kind.WarnCreate(warnOfBlocks)},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Validate:           kind.CheckUpdate(validateNetworkPolicyUpdate),
				Warnings:           kind.WarnAgain(warnOfBlocks),
			},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Pod-Selector", "string", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"]),
				kind.AgeColumn(),
			},
			Row: kind.Row(networkPolicyRow),
		},
	}.Build()
}

func networkPolicyRow(policy *networkingv1.NetworkPolicy) []any {
	return []any{
		policy.Name,
		metav1.FormatLabelSelector(&policy.Spec.PodSelector),
		kind.Age(policy.CreationTimestamp),
	}
}
