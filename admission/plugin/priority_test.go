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
		Failure       string
	}
	resolve := func(t *testing.T, change func(*corev1.Pod)) outcome {
		obj, failure := env{e.With(t)}.tryWith("pods", newPod("p", change), dry())
		if failure != "" {
			return outcome{Failure: failure}
		}
		spec := obj.(*corev1.Pod).Spec
		return outcome{Class: spec.PriorityClassName, Policy: string(*spec.PreemptionPolicy), Value: *spec.Priority}
	}
	never := class("never", 7, false)
	never.PreemptionPolicy = new(corev1.PreemptNever)
	e.Create("priorityclasses.scheduling.k8s.io", never)
	for _, tc := range []struct {
		rule   string
		change func(*corev1.Pod)
		want   outcome
	}{
		{"no class", nil, outcome{Policy: "PreemptLowerPriority"}},
		{"a stored class", named("never"), outcome{Class: "never", Value: 7, Policy: "Never"}},
		{"a system class need not be stored", named("system-node-critical"),
			outcome{Class: "system-node-critical", Value: 2000001000, Policy: "PreemptLowerPriority"}},
		{"a class that does not exist", named("absent"), outcome{Failure: `pods "p" is forbidden: no PriorityClass with name absent was found`}},
		{"an invalid name", named("/a/b"), outcome{Failure: `pods "p" is forbidden: no PriorityClass with name /a/b was found`}},
		{"a value that differs from the class", func(p *corev1.Pod) { p.Spec.Priority = new(int32(5)) },
			outcome{Failure: `pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`}},
		{"a policy that differs from the class", func(p *corev1.Pod) { named("never")(p); p.Spec.PreemptionPolicy = new(corev1.PreemptLowerPriority) },
			outcome{Failure: `pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name`}},
		{"the value of the class", func(p *corev1.Pod) { named("never")(p); p.Spec.Priority = new(int32(7)) },
			outcome{Class: "never", Value: 7, Policy: "Never"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, resolve(t, tc.change)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("the default class", func(t *testing.T) {
		e := env{e.With(t)}
		e.Create("priorityclasses.scheduling.k8s.io", class("usual", 3, true))
		want := outcome{Class: "usual", Value: 3, Policy: "PreemptLowerPriority"}
		if diff := cmp.Diff(want, resolve(t, nil)); diff != "" {
			t.Error(diff)
		}
		_, failure := e.try("priorityclasses.scheduling.k8s.io", class("second", 4, true))
		if want := `priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. Only one default can exist`; failure != want {
			t.Errorf("got %q, want %q", failure, want)
		}
		relabeled := change(e, "priorityclasses.scheduling.k8s.io", class("usual", 3, true), func(c *schedulingv1.PriorityClass) { c.Labels = map[string]string{"a": "b"} })
		if !relabeled.GlobalDefault {
			t.Error("the updated class is not the default anymore")
		}
	})
}

func TestPriorityIsKeptByUpdates(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	pod := mustCreate(e, "pods", newPod("p", nil))
	pod = change(e, "pods", pod, func(p *corev1.Pod) {
		p.Spec.Priority, p.Spec.PreemptionPolicy, p.Labels = nil, nil, map[string]string{"a": "b"}
	})
	if pod.Spec.Priority == nil || pod.Spec.PreemptionPolicy == nil {
		t.Errorf("priority %v, policy %v", pod.Spec.Priority, pod.Spec.PreemptionPolicy)
	}
}
