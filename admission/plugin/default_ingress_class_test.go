package plugin_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestDefaultIngressClass(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.Create("ingressclasses.networking.k8s.io", &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: "usual", Annotations: map[string]string{"ingressclass.kubernetes.io/is-default-class": "true"}},
		Spec:       networkingv1.IngressClassSpec{Controller: "exam.org/c"},
	})
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	for _, tc := range []struct {
		rule, want  string
		class       *string
		annotations map[string]string
	}{
		{"an ingress without a class gets the default", "usual", nil, nil},
		{"a class is kept", "other", new("other"), nil},
		{"the class annotation is kept", "none", nil, map[string]string{"kubernetes.io/ingress.class": "other"}},
	} {
		ingress := mustCreate(e, "ingresses.networking.k8s.io", &networkingv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{Namespace: "x", GenerateName: "i-", Annotations: tc.annotations},
			Spec:       networkingv1.IngressSpec{IngressClassName: tc.class, DefaultBackend: backend},
		})
		got := "none"
		if ingress.Spec.IngressClassName != nil {
			got = *ingress.Spec.IngressClassName
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.want)
		}
	}
}
