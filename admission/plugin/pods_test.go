package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestPriority(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	class := func(name string, value int32, global bool) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: global}
	}
	named := func(name string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.PriorityClassName = name } }
	type outcome struct {
		Class, Policy string
		Value         int32
		Refusal       string
	}
	resolve := func(t *testing.T, change func(*corev1.Pod)) outcome {
		obj, refusal := env{e.With(t)}.tryWith("pods", newPod("p", change), dry())
		if refusal != "" {
			return outcome{Refusal: refusal}
		}
		spec := obj.(*corev1.Pod).Spec
		return outcome{Class: spec.PriorityClassName, Policy: string(*spec.PreemptionPolicy), Value: *spec.Priority}
	}
	never := class("polite", 7, false)
	never.PreemptionPolicy = new(corev1.PreemptNever)
	e.Create("priorityclasses.scheduling.k8s.io", never)
	for _, tc := range []struct {
		rule   string
		change func(*corev1.Pod)
		want   outcome
	}{
		{"no class is none", nil, outcome{Policy: "PreemptLowerPriority"}},
		{"a class is looked up", named("polite"), outcome{Class: "polite", Value: 7, Policy: "Never"}},
		{"those of every cluster are there without being stored", named("system-node-critical"),
			outcome{Class: "system-node-critical", Value: 2000001000, Policy: "PreemptLowerPriority"}},
		{"another one must be stored", named("absent"), outcome{Refusal: `pods "p" is forbidden: no PriorityClass with name absent was found`}},
		{"what can be no name is not", named("/a/b"), outcome{Refusal: `pods "p" is forbidden: no PriorityClass with name /a/b was found`}},
		{"the value is the class's", func(p *corev1.Pod) { p.Spec.Priority = new(int32(5)) },
			outcome{Refusal: `pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`}},
		{"so is the policy", func(p *corev1.Pod) { named("polite")(p); p.Spec.PreemptionPolicy = new(corev1.PreemptLowerPriority) },
			outcome{Refusal: `pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name`}},
		{"saying the same is allowed", func(p *corev1.Pod) { named("polite")(p); p.Spec.Priority = new(int32(7)) },
			outcome{Class: "polite", Value: 7, Policy: "Never"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, resolve(t, tc.change)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("there is one default at most, and it is every pod's", func(t *testing.T) {
		e := env{e.With(t)}
		e.Create("priorityclasses.scheduling.k8s.io", class("usual", 3, true))
		want := outcome{Class: "usual", Value: 3, Policy: "PreemptLowerPriority"}
		if diff := cmp.Diff(want, resolve(t, nil)); diff != "" {
			t.Error(diff)
		}
		_, refusal := e.try("priorityclasses.scheduling.k8s.io", class("second", 4, true))
		if want := `priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. Only one default can exist`; refusal != want {
			t.Errorf("got %q, want %q", refusal, want)
		}
		relabeled := change(e, "priorityclasses.scheduling.k8s.io", class("usual", 3, true), func(c *schedulingv1.PriorityClass) { c.Labels = map[string]string{"a": "b"} })
		if !relabeled.GlobalDefault {
			t.Error("the default class can be changed")
		}
	})
}

// A client that does not know a field sends the object back without it.
func TestPriorityOutlivesUpdates(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	pod := mustCreate(e, "pods", newPod("p", nil))
	pod = change(e, "pods", pod, func(p *corev1.Pod) {
		p.Spec.Priority, p.Spec.PreemptionPolicy, p.Labels = nil, nil, map[string]string{"a": "b"}
	})
	if pod.Spec.Priority == nil || pod.Spec.PreemptionPolicy == nil {
		t.Errorf("priority %v, policy %v", pod.Spec.Priority, pod.Spec.PreemptionPolicy)
	}
}

func TestDefaultTolerations(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	added := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))}
	}
	notReady, unreachable := added("node.kubernetes.io/not-ready"), added("node.kubernetes.io/unreachable")
	other := corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists}
	everything := corev1.Toleration{Operator: corev1.TolerationOpExists}
	own := corev1.Toleration{Key: notReady.Key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(5))}
	for _, tc := range []struct {
		rule        string
		given, want []corev1.Toleration
	}{
		{"are added", nil, []corev1.Toleration{notReady, unreachable}},
		{"come behind the pod's own", []corev1.Toleration{other}, []corev1.Toleration{other, notReady, unreachable}},
		{"are not needed where everything is tolerated", []corev1.Toleration{everything}, []corev1.Toleration{everything}},
		{"leave what the pod says of the same taint", []corev1.Toleration{own}, []corev1.Toleration{own, unreachable}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			obj, refusal := e.tryWith("pods", newPod("p", func(p *corev1.Pod) { p.Spec.Tolerations = tc.given }), dry())
			if refusal != "" {
				t.Fatal(refusal)
			}
			if diff := cmp.Diff(tc.want, obj.(*corev1.Pod).Spec.Tolerations); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewNodesAreTainted(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	want := []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}}
	for _, given := range [][]corev1.Taint{nil, want} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}, Spec: corev1.NodeSpec{Taints: given}}
		node = mustCreate(e, "nodes", node)
		if diff := cmp.Diff(want, node.Spec.Taints); diff != "" {
			t.Error(diff)
		}
		node = change(e, "nodes", node, func(n *corev1.Node) { n.Spec.Taints = nil })
		if len(node.Spec.Taints) > 0 {
			t.Errorf("a node that is ready keeps the taints %v", node.Spec.Taints)
		}
	}
}
