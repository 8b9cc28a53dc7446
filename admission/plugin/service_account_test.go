package plugin_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestServiceAccountIsDisabledByDefault(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	if pod := mustCreate(e, "pods", newPod("p", nil)); pod.Spec.ServiceAccountName != "" {
		t.Errorf("account %q", pod.Spec.ServiceAccountName)
	}
}

func TestServiceAccount(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"ServiceAccount"}})
	want := `pods "p" is forbidden: error looking up service account x/default: serviceaccount "default" not found`
	if _, failure := e.try("pods", newPod("p", nil)); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
	e.Create("serviceaccounts", &corev1.ServiceAccount{
		ObjectMeta: named("default"), ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
	})
	pod := mustCreate(e, "pods", newPod("p", nil))
	volume, mount := pod.Spec.Volumes[0], pod.Spec.Containers[0].VolumeMounts[0]
	if !strings.HasPrefix(volume.Name, "kube-api-access-") || mount.Name != volume.Name || !mount.ReadOnly ||
		mount.MountPath != "/var/run/secrets/kubernetes.io/serviceaccount" || len(volume.Projected.Sources) != 3 {
		t.Errorf("volume %v, mount %v", volume, mount)
	}
	if pod.Spec.ServiceAccountName != "default" || pod.Spec.DeprecatedServiceAccount != "default" || pod.Spec.ImagePullSecrets[0].Name != "pull" {
		t.Errorf("account %q, secrets %v", pod.Spec.ServiceAccountName, pod.Spec.ImagePullSecrets)
	}
	tokenless := mustCreate(e, "pods", newPod("tokenless", func(p *corev1.Pod) { p.Spec.AutomountServiceAccountToken = new(false) }))
	if len(tokenless.Spec.Volumes) > 0 {
		t.Errorf("a token was mounted: %v", tokenless.Spec.Volumes)
	}
}

func TestServiceAccountSecrets(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"ServiceAccount"}})
	e.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: named("default"), Secrets: []corev1.ObjectReference{{Name: "own"}}})
	account := e.Get("serviceaccounts", "x", "default").(*corev1.ServiceAccount)
	secret := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}}
		}
	}
	if _, failure := e.tryWith("pods", newPod("p", secret("other")), dry()); failure != "" {
		t.Error(failure)
	}
	change(e, "serviceaccounts", account, func(a *corev1.ServiceAccount) {
		a.Annotations = map[string]string{"kubernetes.io/enforce-mountable-secrets": "true"}
	})
	for name, want := range map[string]string{
		"own":   "",
		"other": `pods "p" is forbidden: container c with envFrom referencing secret.secretName="other" is not allowed because service account default does not reference that secret`,
	} {
		if _, failure := e.tryWith("pods", newPod("p", secret(name)), dry()); failure != want {
			t.Errorf("got %q\nwant %q", failure, want)
		}
	}
	projected := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "own"}}}},
		}}}}
	}
	for _, uses := range []func(*corev1.Pod){secret("own"), projected} {
		mirror := newPod("m", uses)
		mirror.Spec.NodeName = "n"
		mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "m"}
		if _, failure := e.tryWith("pods", mirror, dry()); failure != `pods "m" is forbidden: a mirror pod may not reference secrets` {
			t.Error(failure)
		}
	}
}

// The error for an ephemeral container has no status, which makes the answer a 500, as in
// kube-apiserver.
func TestServiceAccountSecretsOfEphemeralContainers(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: "x", Name: "a", Annotations: map[string]string{"kubernetes.io/enforce-mountable-secrets": "true"},
	}})
	pod := newPod("p", func(p *corev1.Pod) {
		p.Spec.ServiceAccountName = "a"
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: "e", EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "other"}}}},
		}}}
	})
	a := update(e, "pods", pod, pod)
	a.Subresource = "ephemeralcontainers"
	want := `ephemeral container e with envFrom referencing secret.secretName="other" is not allowed because service account a does not reference that secret`
	if got := text(plugin.ServiceAccount().Validate(t.Context(), a)); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A controller creates the account "default" after the namespace.
func TestServiceAccountWaitsForTheDefaultAccount(t *testing.T) {
	chain, err := plugin.Default(plugin.Config{Enable: []string{"ServiceAccount"}})
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{}, 1)
	chain = append(registry.Chain{{Name: "Began", Admit: func(_ context.Context, a *registry.Attributes) error {
		if a.Resource.Name == "pods" {
			began <- struct{}{}
		}
		return nil
	}}}, chain...)
	e := env{registrytest.New(t, chain, kinds.Resources(feature.Default())...)}
	e.Create("namespaces", registrytest.NewNamespace("x"))
	failed := make(chan string)
	go func() { // ends before the test
		_, failure := e.try("pods", newPod("p", nil))
		failed <- failure
	}()
	<-began
	e.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: named("default")})
	if failure := <-failed; failure != "" {
		t.Error(failure)
	}
}
