package plugin_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// podSecurity returns a configuration of PodSecurity: the defaults enforce a standard, and jane,
// the namespace exempt and the runtime class vm are exempt.
func podSecurity(t *testing.T) plugin.Config {
	t.Helper()
	return plugin.Config{ControlConfigFile: controlFile(t, "- name: PodSecurity\n  configuration:\n"+
		"    apiVersion: pod-security.admission.config.k8s.io/v1\n    kind: PodSecurityConfiguration\n    defaults: {enforce: baseline, audit: restricted}\n"+
		"    exemptions: {usernames: [jane], namespaces: [exempt], runtimeClasses: [vm]}\n")}
}

func TestPodSecurityExemptions(t *testing.T) {
	e := newKinds(t, podSecurity(t))
	for _, namespace := range []*corev1.Namespace{
		{ObjectMeta: metav1.ObjectMeta{Name: "exempt"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "privileged", Labels: standard("enforce", "privileged", "audit", "privileged")}},
	} {
		mustCreate(e, "namespaces", namespace)
	}
	mustCreate(e, "runtimeclasses.node.k8s.io", &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "vm"}, Handler: "h"})
	const enforced = "pod-security.kubernetes.io/enforce-policy"
	const exempt = "pod-security.kubernetes.io/exempt"
	for _, tc := range []struct {
		rule, namespace, user, class string
		failure, key, value          string // key and value of an audit annotation
	}{
		{"the defaults", "x", "john", "", `pods "p" is forbidden: violates PodSecurity "baseline:latest": ` + hostNetwork, enforced, "baseline:latest"},
		{"labels", "privileged", "john", "vm", "", enforced, "privileged:latest"},
		{"an exempt namespace", "exempt", "jane", "", "", exempt, "namespace"},
		{"an exempt user", "x", "jane", "", "", exempt, "user"},
		{"an exempt runtime class", "x", "john", "vm", "", exempt, "runtimeClass"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			pod := newPod("p", onHostNetwork)
			pod.Namespace = tc.namespace
			if tc.class != "" {
				pod.Spec.RuntimeClassName = &tc.class
			}
			ctx, annotations := registry.WithAuditAnnotations(registry.WithUser(e.Context(), &authenticationv1.UserInfo{Username: tc.user}))
			e.Default("pods", pod)
			_, err := e.Store("pods").Create(ctx, registry.CreateRequest{Namespace: tc.namespace, Object: pod, Options: dry()})
			if text(err) != tc.failure {
				t.Errorf("got %q\nwant %q", text(err), tc.failure)
			}
			if got := annotations.All()[tc.key]; got != tc.value {
				t.Errorf("%s is %q, want %q", tc.key, got, tc.value)
			}
		})
	}
}

func TestPodSecurityAuditAnnotations(t *testing.T) {
	e := newKinds(t, plugin.Config{Disable: []string{"PodSecurity"}})
	for name, labels := range map[string]map[string]string{
		"privileged": standard("enforce", "privileged", "enforce-version", "v1.30", "audit", "privileged"),
		"enforced":   standard("enforce", "baseline", "audit", "privileged", "warn", "privileged"),
		"invalid":    standard("enforce", "privileged", "audit", "none"),
	} {
		mustCreate(e, "namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	pod, stored := newPod("p", func(p *corev1.Pod) { p.Spec.RuntimeClassName = new("vm") }), newPod("p", nil)
	template := &corev1.PodTemplate{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}
	const prefix = "pod-security.kubernetes.io/"
	for _, tc := range []struct {
		rule, namespace, resource string
		obj, old                  runtime.Object
		want                      map[string]string
	}{
		{"an update without new images in a privileged namespace", "privileged", "pods", pod, stored, map[string]string{prefix + "enforce-policy": "privileged:latest"}},
		{"an update without new images in another namespace", "enforced", "pods", pod, stored, nil},
		{"a template in a namespace that only enforces a standard", "enforced", "podtemplates", template, template, nil},
		{"an exempt runtime class in a namespace with invalid labels", "invalid", "pods", pod, &corev1.Pod{}, map[string]string{prefix + "exempt": "runtimeClass"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			a := update(e, tc.resource, tc.old, tc.obj)
			a.Namespace = tc.namespace
			ctx, annotations := registry.WithAuditAnnotations(t.Context())
			if err := podSecurityStep(t).Validate(ctx, a); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, annotations.All(), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// podSecurityStep returns the step with the configuration of podSecurity.
func podSecurityStep(t *testing.T) registry.AdmissionStep {
	t.Helper()
	chain, err := plugin.Default(podSecurity(t))
	if err != nil {
		t.Fatal(err)
	}
	return chain[slices.IndexFunc(chain, func(step registry.AdmissionStep) bool { return step.Name == "PodSecurity" })]
}

func TestPodSecurityWarnsAboutLabelsOfExemptNamespaces(t *testing.T) {
	e := newKinds(t, podSecurity(t))
	namespace := func(name string, labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	warned := func(policy string) string {
		return `namespace "exempt" is exempt from Pod Security, and the policy (` + policy + `) will be ignored`
	}
	for _, tc := range []struct {
		rule string
		obj  *corev1.Namespace
		want string
	}{
		{"without labels", namespace("exempt", nil), ""},
		{"labels equal to the defaults", namespace("exempt", standard("audit", "restricted")), ""},
		{"a privileged namespace", namespace("exempt", standard("enforce", "privileged", "audit", "privileged")), ""},
		{"other labels", namespace("exempt", standard("enforce", "restricted", "warn-version", "v1.30", "warn", "baseline")), warned("enforce=restricted:latest, warn=baseline:v1.30")},
		{"another namespace", namespace("other", standard("enforce", "restricted")), ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			a := &registry.Attributes{Catalog: e.Catalog, Operation: registry.OperationCreate, Resource: e.Store("namespaces").Resource(), Object: tc.obj}
			ctx, warnings := registry.WithWarnings(t.Context())
			if err := podSecurityStep(t).Validate(ctx, a); err != nil {
				t.Fatal(err)
			}
			var want []string
			if tc.want != "" {
				want = []string{tc.want}
			}
			if diff := cmp.Diff(want, warnings.List()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPodSecurityIgnoresExistingPodsOfExemptRuntimeClasses(t *testing.T) {
	e := newKinds(t, podSecurity(t))
	mustCreate(e, "runtimeclasses.node.k8s.io", &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "vm"}, Handler: "h"})
	mustCreate(e, "pods", newPod("p", func(p *corev1.Pod) { p.Spec.RuntimeClassName = new("vm") }))
	ctx, warnings := registry.WithWarnings(t.Context())
	old, next := registrytest.NewNamespace("x"), registrytest.NewNamespace("x")
	next.Labels = standard("enforce", "restricted")
	if err := podSecurityStep(t).Validate(ctx, update(e, "namespaces", old, next)); err != nil {
		t.Fatal(err)
	}
	if list := warnings.List(); len(list) > 0 {
		t.Errorf("warnings %q", list)
	}
}

func TestPodSecurityConfigurationErrors(t *testing.T) {
	config := plugin.Config{ControlConfigFile: controlFile(t, "- name: PodSecurity\n  configuration:\n"+
		"    apiVersion: pod-security.admission.config.k8s.io/v1\n    kind: PodSecurityConfiguration\n    defaults: {enforce: strict}\n    exemptions: {usernames: ['']}\n")}
	want := `couldn't init admission plugin "PodSecurity": [defaults.enforce: Invalid value: "strict": must be one of privileged, baseline, restricted, ` +
		`exemptions.usernames[0]: Invalid value: "": username must not be empty]`
	if got := text(config.Validate()); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
