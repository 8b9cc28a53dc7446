package plugin

import (
	"cmp"
	"context"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// DefaultIngressClass gives ingresses that name no class the default one, the
// newest if there are several. It needs a resource "ingressclasses" in the same
// catalog.
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
	classes, err := all[*networkingv1.IngressClass](ctx, a, networkingv1.Resource("ingressclasses"), "")
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

// newest names the youngest object that is chosen, of several of one second the
// first by name.
func newest[T metav1.Object](objects []T, chosen func(T) bool) (name string, ok bool) {
	objects = slices.DeleteFunc(objects, func(o T) bool { return !chosen(o) })
	if len(objects) == 0 {
		return "", false
	}
	first := slices.MinFunc(objects, func(a, b T) int {
		return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
	})
	return first.GetName(), true
}
