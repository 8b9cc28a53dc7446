package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

// annotatedNamespace returns a namespace with one annotation, none for "".
func annotatedNamespace(name, annotation, value string) *corev1.Namespace {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if annotation != "" {
		namespace.Annotations = map[string]string{annotation: value}
	}
	return namespace
}

func TestPodNodeSelector(t *testing.T) {
	const annotation = "scheduler.alpha.kubernetes.io/node-selector"
	e := newKinds(t, plugin.Config{Enable: []string{"PodNodeSelector"}, ControlConfigFile: controlFile(t,
		"- name: PodNodeSelector\n  configuration: {podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: 'zone=a', limited: 'zone=a,disk=ssd', broken: '='}}\n")})
	for _, namespace := range []*corev1.Namespace{
		annotatedNamespace("plain", "", ""), annotatedNamespace("annotated", annotation, "zone=b, disk=ssd"), annotatedNamespace("empty", annotation, ""),
		annotatedNamespace("invalid", annotation, "zone in (a)"), annotatedNamespace("limited", "", ""), annotatedNamespace("broken", "", ""),
	} {
		mustCreate(e, "namespaces", namespace)
	}
	type selector = map[string]string
	const (
		conflict   = `pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector`
		notAllowed = `pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist`
	)
	for _, tc := range []struct {
		rule, namespace, failure string
		given, want              selector
	}{
		{"the selector of the cluster", "plain", "", nil, selector{"zone": "a"}},
		{"the selector of the namespace", "annotated", "", selector{"own": "x"}, selector{"zone": "b", "disk": "ssd", "own": "x"}},
		{"an empty selector of the namespace", "empty", "", selector{"own": "x"}, selector{"own": "x"}},
		{"a conflict", "annotated", conflict, selector{"zone": "a"}, nil},
		{"an invalid selector of the namespace", "invalid", `invalid selector: [zone in (a)]`, nil, nil},
		{"allowed labels", "limited", "", selector{"disk": "ssd"}, selector{"zone": "a", "disk": "ssd"}},
		{"another value of an allowed label", "limited", notAllowed, selector{"disk": "hdd"}, nil},
		{"another label", "limited", notAllowed, selector{"own": "x"}, nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			obj, failure := env{e.With(t)}.tryWith("pods", newPod("p", func(p *corev1.Pod) { p.Namespace, p.Spec.NodeSelector = tc.namespace, tc.given }), dry())
			if failure != tc.failure {
				t.Fatalf("got %q\nwant %q", failure, tc.failure)
			}
			if failure != "" {
				return
			}
			if diff := cmp.Diff(tc.want, obj.(*corev1.Pod).Spec.NodeSelector); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, failure := e.tryWith("pods", newPod("p", func(p *corev1.Pod) { p.Namespace = "broken" }), dry()); failure == "" {
		t.Error("a pod is created in a namespace with malformed allowed labels")
	}
}

func TestPodNodeSelectorWithoutNamespace(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"PodNodeSelector"}, Disable: []string{"NamespaceLifecycle"}})
	const want = "Internal error occurred: namespace absent does not exist"
	if _, failure := e.try("pods", newPod("p", func(p *corev1.Pod) { p.Namespace = "absent" })); failure != want {
		t.Errorf("got %q", failure)
	}
}
