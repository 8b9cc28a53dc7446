package networking

import (
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func ingressClasses(features *feature.Set) *registry.Resource {
	return kind.Definition[*networkingv1.IngressClass]{
		GroupVersion:             networkingv1.SchemeGroupVersion,
		Object:                   &networkingv1.IngressClass{},
		List:                     &networkingv1.IngressClassList{},
		Resource:                 "ingressclasses",
		GenerateNameOnUpdate:     true,
		Default:                  defaultIngressClass,
		Generation:               true,
		ValidateCreate:           validateIngressClass,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateIngressClassUpdate,
		Columns: kind.StandardColumns(
			kind.TextColumn("Controller", "Controller that is responsible for handling this class",
				func(class *networkingv1.IngressClass) any { return class.Spec.Controller }),
			kind.TextColumn("Parameters", "A reference to a resource with additional parameters",
				func(class *networkingv1.IngressClass) any { return parametersCell(class.Spec.Parameters) }),
		),
	}.Build(features)
}

func parametersCell(ref *networkingv1.IngressClassParametersReference) string {
	if ref == nil {
		return kind.None
	}
	parameters := ref.Kind
	if ref.APIGroup != nil {
		parameters += "." + *ref.APIGroup
	}
	return parameters + "/" + ref.Name
}
