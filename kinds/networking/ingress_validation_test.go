package networking

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
)

func TestIngresses(t *testing.T) {
	rule := func(host string, typ *networkingv1.PathType, path string) networkingv1.IngressSpec {
		return networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: path, PathType: typ}}},
		}}}}
	}
	prefix := networkingv1.PathTypePrefix
	for _, tc := range []struct {
		rule string
		spec networkingv1.IngressSpec
		want []string
	}{
		{"a default is enough", networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{}}, nil},
		{"and so is a rule", rule("*.exam.org", &prefix, "/"), nil},
		{"nothing is not", networkingv1.IngressSpec{}, []string{"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"}},
		{"a path says how it matches", rule("exam.org", nil, "/"),
			[]string{"spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"}},
		{"and begins at the root", rule("exam.org", &prefix, "x"),
			[]string{`spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path`}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			var got []string
			for _, err := range validateIngress(&networkingv1.Ingress{Spec: tc.spec}) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
