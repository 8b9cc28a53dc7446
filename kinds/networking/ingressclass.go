package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func ingressClasses() *registry.Resource {
	return kind.Definition{
		GroupVersion: networkingv1.SchemeGroupVersion,
		Object:       &networkingv1.IngressClass{},
		List:         &networkingv1.IngressClassList{},
		Resource:     "ingressclasses",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultIngressClass),
		Generation:   true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateIngressClass)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validateIngressClassUpdate)},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Controller", "string", "Controller that is responsible for handling this class"),
				kind.Column("Parameters", "string", "A reference to a resource with additional parameters"),
				kind.AgeColumn(),
			},
			Row: kind.Row(ingressClassRow),
		},
	}.Build()
}

func ingressClassRow(class *networkingv1.IngressClass) []any {
	parameters := "<none>"
	if ref := class.Spec.Parameters; ref != nil {
		parameters = ref.Kind
		if ref.APIGroup != nil {
			parameters += "." + *ref.APIGroup
		}
		parameters += "/" + ref.Name
	}
	return []any{class.Name, class.Spec.Controller, parameters, kind.Age(class.CreationTimestamp)}
}
