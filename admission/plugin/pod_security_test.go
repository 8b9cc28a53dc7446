package plugin_test

import (
	stdcmp "cmp"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// standard returns namespace labels from pairs of mode and level.
func standard(pairs ...string) map[string]string {
	labels := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		labels["pod-security.kubernetes.io/"+pairs[i]] = pairs[i+1]
	}
	return labels
}

func onHostNetwork(p *corev1.Pod) { p.Spec.HostNetwork = true }

// restricted makes a pod meet every standard.
func restricted(p *corev1.Pod) {
	p.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

const (
	hostNetwork  = `host namespaces (hostNetwork=true)`
	unrestricted = `allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ` +
		`runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ` +
		`seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`
)

func TestPodSecurity(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	type outcome struct{ Failure, Warnings, Audit string }
	for _, tc := range []struct {
		rule   string
		labels map[string]string
		pod    func(*corev1.Pod)
		want   outcome
	}{
		{"a namespace without labels", nil, onHostNetwork, outcome{}},
		{"enforce rejects violations", standard("enforce", "baseline"), onHostNetwork,
			outcome{Failure: `pods "p" is forbidden: violates PodSecurity "baseline:latest": ` + hostNetwork}},
		{"enforce allows pods that meet the standard", standard("enforce", "restricted"), restricted, outcome{}},
		{"a version of a standard", standard("enforce", "restricted", "enforce-version", "v1.20"), nil,
			outcome{Failure: `pods "p" is forbidden: violates PodSecurity "restricted:v1.20": ` + unrestricted}},
		{"a rejected pod causes no warning", standard("enforce", "baseline", "warn", "restricted"), onHostNetwork,
			outcome{Failure: `pods "p" is forbidden: violates PodSecurity "baseline:latest": ` + hostNetwork}},
		{"warn causes a warning", standard("warn", "baseline"), onHostNetwork,
			outcome{Warnings: `would violate PodSecurity "baseline:latest": ` + hostNetwork}},
		{"audit adds an annotation to the audit log", standard("audit", "baseline"), onHostNetwork,
			outcome{Audit: `would violate PodSecurity "baseline:latest": ` + hostNetwork}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-", Labels: tc.labels}}
			pod := newPod("p", tc.pod)
			pod.Namespace = mustCreate(e, "namespaces", namespace).Name
			ctx, annotations := registry.WithAuditAnnotations(e.Context())
			warnings, failure := e.tryWarned(ctx, "pods", pod)
			audited := annotations.All()
			if diff := cmp.Diff(tc.want, outcome{failure, warnings, audited["pod-security.kubernetes.io/audit-violations"]}); diff != "" {
				t.Error(diff)
			}
			enforced := stdcmp.Or(tc.labels["pod-security.kubernetes.io/enforce"], "privileged") + ":" +
				stdcmp.Or(tc.labels["pod-security.kubernetes.io/enforce-version"], "latest")
			if got := audited["pod-security.kubernetes.io/enforce-policy"]; got != enforced {
				t.Errorf("the audit log has the enforced standard %q, want %q", got, enforced)
			}
		})
	}
}

// tryWarned creates an object, and returns the warnings and the error text.
func (e env) tryWarned(ctx context.Context, resource string, obj runtime.Object) (warnings, failure string) {
	e.Helper()
	e.Default(resource, obj)
	ctx, list := registry.WithWarnings(ctx)
	_, err := e.Store(resource).Create(ctx, registry.CreateRequest{Namespace: registrytest.Meta(obj).GetNamespace(), Object: obj})
	return strings.Join(list.List(), "\n"), text(err)
}

func TestPodSecurityWarnsAboutTemplates(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	change(e, "namespaces", registrytest.NewNamespace("x"), func(n *corev1.Namespace) { n.Labels = standard("enforce", "baseline") })
	spec := newPod("p", onHostNetwork).Spec
	labels := map[string]string{"a": "b"}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	job := *template.DeepCopy()
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	selector := &metav1.LabelSelector{MatchLabels: labels}
	for resource, obj := range map[string]runtime.Object{
		"podtemplates":           &corev1.PodTemplate{ObjectMeta: named("o"), Template: template},
		"replicationcontrollers": &corev1.ReplicationController{ObjectMeta: named("o"), Spec: corev1.ReplicationControllerSpec{Selector: labels, Template: &template}},
		"replicasets.apps":       &appsv1.ReplicaSet{ObjectMeta: named("o"), Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}},
		"deployments.apps":       &appsv1.Deployment{ObjectMeta: named("o"), Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}},
		"daemonsets.apps":        &appsv1.DaemonSet{ObjectMeta: named("o"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
		"statefulsets.apps":      &appsv1.StatefulSet{ObjectMeta: named("o"), Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}},
		"jobs.batch":             &batchv1.Job{ObjectMeta: named("o"), Spec: batchv1.JobSpec{Template: job}},
		"cronjobs.batch": &batchv1.CronJob{ObjectMeta: named("o"), Spec: batchv1.CronJobSpec{
			Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: job}},
		}},
	} {
		t.Run(resource, func(t *testing.T) {
			warnings, failure := env{e.With(t)}.tryWarned(t.Context(), resource, obj)
			if want := `would violate PodSecurity "baseline:latest": ` + hostNetwork; warnings != want || failure != "" {
				t.Errorf("warnings %q, failure %q", warnings, failure)
			}
		})
	}
}

func TestPodSecurityOfUpdates(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	pod := mustCreate(e, "pods", newPod("p", onHostNetwork))
	change(e, "namespaces", registrytest.NewNamespace("x"), func(n *corev1.Namespace) { n.Labels = standard("enforce", "baseline") })
	const violation = `pods "p" is forbidden: violates PodSecurity "baseline:latest": ` + hostNetwork
	for _, tc := range []struct {
		rule, subresource, want string
		change                  func(*corev1.Pod)
	}{
		{"labels", "", "", func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }},
		{"status", "status", "", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }},
		{"another image", "", violation, func(p *corev1.Pod) { p.Spec.Containers[0].Image = "j" }},
		{"an ephemeral container", "ephemeralcontainers", violation, func(p *corev1.Pod) {
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
				Name: "e", Image: "i", ImagePullPolicy: corev1.PullAlways, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}}}
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if _, err := tryChange(env{e.With(t)}, "pods", tc.subresource, pod, tc.change); text(err) != tc.want {
				t.Errorf("got %q\nwant %q", text(err), tc.want)
			}
		})
	}
}

func TestPodSecurityOfNamespaces(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	controlled := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		pod := newPod(name, change)
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: new(true)}}
		return pod
	}
	for _, pod := range []*corev1.Pod{controlled("a", onHostNetwork), controlled("b", onHostNetwork), newPod("c", nil), newPod("d", restricted)} {
		e.Create("pods", pod)
	}
	const (
		existing = `existing pods in namespace "x" violate the new PodSecurity enforce level `
		unknown  = `Namespace "x" is invalid: metadata.labels[pod-security.kubernetes.io/`
	)
	for _, tc := range []struct {
		rule              string
		from, to          map[string]string
		warnings, failure string
	}{
		{"an unknown level", nil, standard("enforce", "strict"), "", unknown + `enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted`},
		{"an invalid version", nil, standard("warn-version", "1.30"), "", unknown + `warn-version]: Invalid value: "1.30": must be "latest" or "v1.x"`},
		{"existing pods violate the new standard", nil, standard("enforce", "baseline"), existing + "\"baseline:latest\"\na (and 1 other pod): host namespaces", ""},
		{"pods are grouped by violation", standard("enforce", "baseline"), standard("enforce", "restricted", "enforce-version", "v1.20"), existing + `"restricted:v1.20"` +
			"\na (and 1 other pod): host namespaces, allowPrivilegeEscalation != false, runAsNonRoot != true, seccompProfile" +
			"\nc: allowPrivilegeEscalation != false, runAsNonRoot != true, seccompProfile", ""},
		{"another version is checked", standard("enforce", "baseline"), standard("enforce", "baseline", "enforce-version", "v1.30"),
			existing + "\"baseline:v1.30\"\na (and 1 other pod): host namespaces", ""},
		{"a relaxed standard causes no warning", standard("enforce", "restricted"), standard("enforce", "baseline"), "", ""},
		{"warn and audit cause no warning", nil, standard("warn", "restricted", "audit", "restricted"), "", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			change(e, "namespaces", registrytest.NewNamespace("x"), func(n *corev1.Namespace) { n.Labels = nil })
			change(e, "namespaces", registrytest.NewNamespace("x"), func(n *corev1.Namespace) { n.Labels = tc.from })
			ctx, list := registry.WithWarnings(t.Context())
			_, err := e.Store("namespaces").Update(ctx, registry.UpdateRequest{
				Name: "x",
				Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
					return registrytest.Change(current.(*corev1.Namespace), func(n *corev1.Namespace) { n.Labels = tc.to }), nil
				},
			})
			if warnings := strings.Join(list.List(), "\n"); warnings != tc.warnings || text(err) != tc.failure {
				t.Errorf("warnings %q\nwant %q\nrefusal %q\nwant %q", warnings, tc.warnings, text(err), tc.failure)
			}
		})
	}
	t.Run("labels of a new namespace are validated", func(t *testing.T) {
		namespace := registrytest.NewNamespace("y")
		namespace.Labels = standard("audit", "none")
		_, failure := env{e.With(t)}.try("namespaces", namespace)
		if want := `Namespace "y" is invalid: metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: "none": must be one of privileged, baseline, restricted`; failure != want {
			t.Errorf("got %q\nwant %q", failure, want)
		}
	})
}
