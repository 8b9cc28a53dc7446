package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestLimitPodHardAntiAffinityTopology(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"LimitPodHardAntiAffinityTopology"}})
	term := func(key string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{}}
	}
	required := func(keys ...string) *corev1.Affinity {
		anti := &corev1.PodAntiAffinity{}
		for _, key := range keys {
			anti.RequiredDuringSchedulingIgnoredDuringExecution = append(anti.RequiredDuringSchedulingIgnoredDuringExecution, term(key))
		}
		return &corev1.Affinity{PodAntiAffinity: anti}
	}
	for _, tc := range []struct {
		rule     string
		affinity *corev1.Affinity
		want     string
	}{
		{"no affinity", nil, ""},
		{"the host name", required("kubernetes.io/hostname"), ""},
		{"another key", required("kubernetes.io/hostname", "zone"), `pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling ` +
			`has TopologyKey zone but only key kubernetes.io/hostname is allowed`},
		{"another key of a preference", &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term("zone")}},
		}}, ""},
		{"another key of an affinity", &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term("zone")},
		}}, ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			_, failure := env{e.With(t)}.tryWith("pods", newPod("p", func(p *corev1.Pod) { p.Spec.Affinity = tc.affinity }), dry())
			if failure != tc.want {
				t.Errorf("got %q\nwant %q", failure, tc.want)
			}
		})
	}
}
