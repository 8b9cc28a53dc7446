package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestExtendedResourceToleration(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"ExtendedResourceToleration"}, Disable: []string{"DefaultTolerationSeconds"}})
	resources := func(names ...corev1.ResourceName) corev1.ResourceRequirements {
		list := corev1.ResourceList{}
		for _, name := range names {
			list[name] = resource.MustParse("1")
		}
		return corev1.ResourceRequirements{Requests: list, Limits: list}
	}
	exists := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	}
	other := corev1.Toleration{Key: "a.b/c", Operator: corev1.TolerationOpExists}
	for _, tc := range []struct {
		rule             string
		container, start []corev1.ResourceName
		given, want      []corev1.Toleration
	}{
		{"resources of Kubernetes", []corev1.ResourceName{"cpu", "memory"}, nil, nil, nil},
		{"extended resources, sorted", []corev1.ResourceName{"x.y/z", "a.b/c"}, nil, nil,
			[]corev1.Toleration{exists("a.b/c"), exists("x.y/z")}},
		{"resources of init containers", []corev1.ResourceName{"x.y/z"}, []corev1.ResourceName{"a.b/c"}, nil,
			[]corev1.Toleration{exists("a.b/c"), exists("x.y/z")}},
		{"a toleration of all effects", []corev1.ResourceName{"a.b/c"}, nil, []corev1.Toleration{other},
			[]corev1.Toleration{other, exists("a.b/c")}},
		{"a toleration of the same taint", []corev1.ResourceName{"a.b/c"}, nil, []corev1.Toleration{exists("a.b/c"), other},
			[]corev1.Toleration{exists("a.b/c"), other}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			obj, failure := env{e.With(t)}.tryWith("pods", newPod("p", func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources = resources(tc.container...)
				p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "i", Resources: resources(tc.start...)}}
				p.Spec.Tolerations = tc.given
			}), dry())
			if failure != "" {
				t.Fatal(failure)
			}
			if diff := cmp.Diff(tc.want, obj.(*corev1.Pod).Spec.Tolerations); diff != "" {
				t.Error(diff)
			}
		})
	}
}
