package plugin_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/admission/plugin"
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
	mirror := newPod("m", secret("own"))
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "m"}
	if _, failure := e.tryWith("pods", mirror, dry()); failure != `pods "m" is forbidden: a mirror pod may not reference secrets` {
		t.Error(failure)
	}
}
