package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestDefaultTolerationSeconds(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	added := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))}
	}
	notReady, unreachable := added("node.kubernetes.io/not-ready"), added("node.kubernetes.io/unreachable")
	other := corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists}
	matchesAll := corev1.Toleration{Operator: corev1.TolerationOpExists}
	own := corev1.Toleration{Key: notReady.Key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(5))}
	for _, tc := range []struct {
		rule        string
		given, want []corev1.Toleration
	}{
		{"tolerations are added", nil, []corev1.Toleration{notReady, unreachable}},
		{"tolerations are appended", []corev1.Toleration{other}, []corev1.Toleration{other, notReady, unreachable}},
		{"a toleration of all taints suffices", []corev1.Toleration{matchesAll}, []corev1.Toleration{matchesAll}},
		{"a toleration of the same taint is kept", []corev1.Toleration{own}, []corev1.Toleration{own, unreachable}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			obj, failure := e.tryWith("pods", newPod("p", func(p *corev1.Pod) { p.Spec.Tolerations = tc.given }), dry())
			if failure != "" {
				t.Fatal(failure)
			}
			if diff := cmp.Diff(tc.want, obj.(*corev1.Pod).Spec.Tolerations); diff != "" {
				t.Error(diff)
			}
		})
	}
}
