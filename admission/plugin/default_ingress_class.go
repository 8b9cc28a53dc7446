package plugin

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/miniapi/miniapi/registry"
)

// DefaultIngressClass sets the class of new ingresses without one to the default class, the newest
// if there are several. The step reads the resource "ingressclasses" of the catalog.
func DefaultIngressClass() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "DefaultIngressClass", Admit: defaultIngressClass}
}

func defaultIngressClass(ctx context.Context, a *registry.Attributes) error {
	ingress, ok := created[*networkingv1.Ingress](a)
	if !ok || ingress.Spec.IngressClassName != nil {
		return nil
	}
	if _, ok := ingress.Annotations["kubernetes.io/ingress.class"]; ok {
		return nil
	}
	classes, err := listObjects[*networkingv1.IngressClass](ctx, a, networkingv1.Resource("ingressclasses"), "")
	if err != nil {
		return forbidden(a, err)
	}
	if class, ok := newest(classes, isDefaultIngressClass); ok {
		ingress.Spec.IngressClassName = &class
	}
	return nil
}

func isDefaultIngressClass(class *networkingv1.IngressClass) bool {
	return class.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true"
}
