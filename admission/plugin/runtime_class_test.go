package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func runtimeClass(name string, overhead *nodev1.Overhead, scheduling *nodev1.Scheduling) *nodev1.RuntimeClass {
	return &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: "h", Overhead: overhead, Scheduling: scheduling}
}

func TestRuntimeClassOverhead(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.Create("runtimeclasses.node.k8s.io", runtimeClass("light", nil, nil))
	e.Create("runtimeclasses.node.k8s.io", runtimeClass("heavy", &nodev1.Overhead{PodFixed: amounts("cpu", "100m")}, nil))
	pod := func(class string, overhead corev1.ResourceList) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.RuntimeClassName, p.Spec.Overhead = &class, overhead }
	}
	const rejected = `pods "p" is forbidden: pod rejected: `
	for _, tc := range []struct {
		rule    string
		pod     func(*corev1.Pod)
		want    corev1.ResourceList
		failure string
	}{
		{"a pod gets the overhead of its class", pod("heavy", nil), amounts("cpu", "100m"), ""},
		{"an equal overhead", pod("heavy", amounts("cpu", "0.1")), amounts("cpu", "100m"), ""},
		{"a different overhead", pod("heavy", amounts("cpu", "1")), nil, rejected + "Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
		{"a class without overhead", pod("light", nil), nil, ""},
		{"an overhead that the class does not have", pod("light", amounts("cpu", "1")), nil, rejected + "Pod Overhead set without corresponding RuntimeClass defined Overhead"},
		{"an overhead without a class", func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu", "1") }, nil,
			rejected + "Pod Overhead set without corresponding RuntimeClass defined Overhead"},
		{"a class that does not exist", pod("absent", nil), nil, rejected + `RuntimeClass "absent" not found`},
		{"an empty name", pod("", nil), nil, rejected + `RuntimeClass "" not found`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			obj, failure := env{e.With(t)}.tryWith("pods", newPod("p", tc.pod), dry())
			if failure != tc.failure {
				t.Fatalf("got %q\nwant %q", failure, tc.failure)
			}
			if failure != "" {
				return
			}
			if diff := cmp.Diff(tc.want, obj.(*corev1.Pod).Spec.Overhead); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRuntimeClassScheduling(t *testing.T) {
	e := newKinds(t, plugin.Config{Disable: []string{"DefaultTolerationSeconds"}})
	exists := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	seconds := func(n int64) corev1.Toleration {
		t := exists("t", corev1.TaintEffectNoExecute)
		t.TolerationSeconds = &n
		return t
	}
	equal := corev1.Toleration{Key: "k", Operator: corev1.TolerationOpEqual, Value: "v"}
	e.Create("runtimeclasses.node.k8s.io", runtimeClass("c", nil, &nodev1.Scheduling{
		NodeSelector: map[string]string{"a": "b"}, Tolerations: []corev1.Toleration{exists("k", ""), seconds(60)},
	}))
	for _, tc := range []struct {
		rule, failure string
		given, want   corev1.PodSpec
	}{
		{"constraints of the class are added", "",
			corev1.PodSpec{NodeSelector: map[string]string{"c": "d"}, Tolerations: []corev1.Toleration{exists("o", "")}},
			corev1.PodSpec{NodeSelector: map[string]string{"a": "b", "c": "d"}, Tolerations: []corev1.Toleration{exists("o", ""), exists("k", ""), seconds(60)}}},
		{"tolerations covered by the class are removed", "",
			corev1.PodSpec{Tolerations: []corev1.Toleration{equal, seconds(30)}},
			corev1.PodSpec{NodeSelector: map[string]string{"a": "b"}, Tolerations: []corev1.Toleration{exists("k", ""), seconds(60)}}},
		{"tolerations covered by the pod are not added", "",
			corev1.PodSpec{Tolerations: []corev1.Toleration{exists("", "")}},
			corev1.PodSpec{NodeSelector: map[string]string{"a": "b"}, Tolerations: []corev1.Toleration{exists("", "")}}},
		{"conflicting node selectors", `pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = z`,
			corev1.PodSpec{NodeSelector: map[string]string{"a": "z"}}, corev1.PodSpec{}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			obj, failure := env{e.With(t)}.tryWith("pods", newPod("p", func(p *corev1.Pod) {
				p.Spec.RuntimeClassName = new("c")
				p.Spec.NodeSelector, p.Spec.Tolerations = tc.given.NodeSelector, tc.given.Tolerations
			}), dry())
			if failure != tc.failure {
				t.Fatalf("got %q\nwant %q", failure, tc.failure)
			}
			if failure != "" {
				return
			}
			got := obj.(*corev1.Pod).Spec
			if diff := cmp.Diff(tc.want, corev1.PodSpec{NodeSelector: got.NodeSelector, Tolerations: got.Tolerations}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
