package webhook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

// TestCredentialsOfWebhooks calls webhooks of both kinds. Only the kubeconfig of one kind has
// credentials for the server.
func TestCredentialsOfWebhooks(t *testing.T) {
	folder := t.TempDir()
	plugins := "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	for plugin, user := range map[string]string{"MutatingAdmissionWebhook": "other.example.com", "ValidatingAdmissionWebhook": "*"} {
		kubeconfig := filepath.Join(folder, plugin)
		writeFile(t, kubeconfig, fmt.Sprintf("apiVersion: v1\nkind: Config\nusers: [{name: %q, user: {token: secret}}]\n", user))
		plugins += fmt.Sprintf("- name: %s\n  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %q}\n", plugin, kubeconfig)
	}
	file := filepath.Join(folder, "admission.yaml")
	writeFile(t, file, plugins)
	e := startWith(t, miniapi.Config{AdmissionControlConfigFile: file})
	e.mutating("m")
	e.validating("v")
	must(t, e.client.CoreV1().ConfigMaps("default").Create, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	tokens := map[string]string{}
	for _, r := range e.requests() {
		tokens[r.path] = r.token
	}
	if diff := cmp.Diff(map[string]string{"/m": "", "/v": "Bearer secret"}, tokens); diff != "" {
		t.Errorf("credentials (-want +got):\n%s", diff)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
