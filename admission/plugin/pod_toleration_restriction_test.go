package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/miniapi/miniapi/admission/plugin"
)

const (
	defaultTolerations = "scheduler.alpha.kubernetes.io/defaultTolerations"
	tolerationsAllowed = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
	conflictsWith      = "pod tolerations (possibly merged with namespace default tolerations) conflict with its "
)

func TestPodTolerationRestriction(t *testing.T) {
	e := newKinds(t, plugin.Config{
		Enable: []string{"PodTolerationRestriction"}, Disable: []string{"DefaultTolerationSeconds"},
		ControlConfigFile: controlFile(t, "- name: PodTolerationRestriction\n  configuration:\n    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1\n"+
			"    kind: Configuration\n    default: [{key: cluster, operator: Exists}]\n"+
			"    whitelist: [{key: cluster, operator: Exists}, {key: own, operator: Exists}, {key: node.kubernetes.io/memory-pressure, operator: Exists}]\n"),
	})
	for _, namespace := range []*corev1.Namespace{
		annotatedNamespace("defaults", defaultTolerations, `[{"key":"own","operator":"Equal","value":"x"}]`), annotatedNamespace("none", defaultTolerations, ""),
		annotatedNamespace("null", defaultTolerations, "null"), annotatedNamespace("malformed", defaultTolerations, "{}"),
		annotatedNamespace("restricted", tolerationsAllowed, `[{"key":"own","operator":"Exists","effect":"NoSchedule"}]`), annotatedNamespace("unrestricted", tolerationsAllowed, ""),
	} {
		mustCreate(e, "namespaces", namespace)
	}
	type list = []corev1.Toleration
	exists := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists}
	}
	own := corev1.Toleration{Key: "own", Operator: corev1.TolerationOpEqual, Value: "x"}
	noSchedule := corev1.Toleration{Key: "own", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	pressure := corev1.Toleration{Key: "node.kubernetes.io/memory-pressure", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	for _, tc := range []struct {
		rule, namespace string
		given           list
		requests        string // of cpu
		want            list
		failure         string
	}{
		{rule: "the defaults of the cluster", namespace: "x", want: list{exists("cluster")}},
		{rule: "the defaults of the namespace", namespace: "defaults", want: list{own}},
		{rule: "no defaults of the namespace", namespace: "none"},
		{rule: "null defaults of the namespace", namespace: "null"},
		{rule: "malformed defaults", namespace: "malformed", failure: "json: cannot unmarshal object into Go value of type []v1.Toleration"},
		{rule: "defaults that a toleration of the pod covers", namespace: "defaults", given: list{exists("own")}, want: list{exists("own")}},
		{rule: "a pod that is not BestEffort", namespace: "none", requests: "1", want: list{pressure}},
		{rule: "a toleration that the cluster does not allow", namespace: "x", given: list{exists("other")}, failure: conflictsWith + "cluster whitelist"},
		{rule: "a toleration that the namespace does not allow", namespace: "restricted", given: list{noSchedule}, failure: conflictsWith + "namespace whitelist"},
		{rule: "a namespace that allows all", namespace: "unrestricted", given: list{exists("other")}, want: list{exists("other"), exists("cluster")}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			obj, failure := env{e.With(t)}.tryWith("pods", newPod("p", func(p *corev1.Pod) {
				p.Namespace, p.Spec.Tolerations = tc.namespace, tc.given
				if tc.requests != "" {
					p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(tc.requests)}
				}
			}), dry())
			if failure != tc.failure {
				t.Fatalf("got %q\nwant %q", failure, tc.failure)
			}
			if failure != "" {
				return
			}
			if diff := cmp.Diff(tc.want, obj.(*corev1.Pod).Spec.Tolerations); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPodTolerationRestrictionOfUpdates(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"PodTolerationRestriction"}, Disable: []string{"DefaultTolerationSeconds"}})
	mustCreate(e, "namespaces", annotatedNamespace("n", defaultTolerations, `[{"key":"a","operator":"Exists"}]`))
	pod := mustCreate(e, "pods", newPod("p", func(p *corev1.Pod) { p.Namespace = "n" }))
	change(e, "namespaces", e.Get("namespaces", "", "n").(*corev1.Namespace), func(n *corev1.Namespace) {
		n.Annotations[defaultTolerations] = `[{"key":"b","operator":"Exists"}]`
	})
	label := func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }
	if got := change(e, "pods", pod, label).Spec.Tolerations; len(got) != 1 || got[0].Key != "a" {
		t.Errorf("an update adds defaults: %v", got)
	}
	change(e, "namespaces", e.Get("namespaces", "", "n").(*corev1.Namespace), func(n *corev1.Namespace) {
		n.Annotations[tolerationsAllowed] = `[{"key":"b","operator":"Exists"}]`
	})
	if _, err := tryChange(e, "pods", "", pod, func(p *corev1.Pod) { p.Labels = nil }); text(err) != conflictsWith+"namespace whitelist" {
		t.Errorf("an update of a pod that is not allowed any more: %v", err)
	}
	if _, err := tryChange(e, "pods", "status", pod, func(p *corev1.Pod) { p.Status.Reason = "r" }); err != nil {
		t.Errorf("its status: %v", err)
	}
}
