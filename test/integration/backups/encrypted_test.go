package backups_test

import (
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// encrypted returns a data directory with an encrypted Secret and its encryption configuration.
func encrypted(t *testing.T) (dir, configuration string) {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	configuration = filepath.Join(t.TempDir(), "encryption.yaml")
	check(t, os.WriteFile(configuration, []byte(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aescbc: {keys: [{name: key1, secret: `+base64.StdEncoding.EncodeToString(key)+`}]}
`), 0o600))
	dir = filepath.Join(t.TempDir(), "data")
	server := servertest.Start(t, miniapi.Config{DataDir: dir, EncryptionProviderConfig: configuration})
	typed, _ := clients(t, server)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"k": "v"}}
	_, err := typed.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{})
	check(t, err)
	check(t, servertest.Stop(server))
	return dir, configuration
}

// The error of an encrypted value names the object, the provider and the flag, in every verb. Other
// resources are not affected.
func TestEncryptedValuesWithoutConfiguration(t *testing.T) {
	dir, _ := encrypted(t)
	typed, _ := clients(t, servertest.Start(t, miniapi.Config{FromSnapshot: dir}))
	secrets := typed.CoreV1().Secrets("default")
	_, getErr := secrets.Get(t.Context(), "s", metav1.GetOptions{})
	_, listErr := typed.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	_, selectErr := secrets.List(t.Context(), metav1.ListOptions{LabelSelector: "a=b"})
	for verb, err := range map[string]error{"get": getErr, "list": listErr, "list with a selector": selectErr} {
		want := "/registry/secrets/default/s is encrypted by the provider aescbc (k8s:enc:aescbc:v1:key1:): set --encryption-provider-config"
		if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", verb, err, want)
		}
	}
	_, err := typed.CoreV1().Services("").List(t.Context(), metav1.ListOptions{})
	check(t, err)
}

func TestEncryptedValuesWithConfiguration(t *testing.T) {
	dir, configuration := encrypted(t)
	typed, _ := clients(t, servertest.Start(t, miniapi.Config{FromSnapshot: dir, EncryptionProviderConfig: configuration}))
	secret, err := typed.CoreV1().Secrets("default").Get(t.Context(), "s", metav1.GetOptions{})
	check(t, err)
	if string(secret.Data["k"]) != "v" {
		t.Errorf("data %q", secret.Data)
	}
}
