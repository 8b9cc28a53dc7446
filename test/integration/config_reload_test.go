package integration_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// configFile is the file of a configuration that the server loads again when it changes.
type configFile struct{ name, path, content string }

func newConfigFile(t *testing.T, name, content string) configFile {
	t.Helper()
	return configFile{name, write(t, t.TempDir(), name+".yaml", content), content}
}

// replace replaces the content of the file at once: a server never reads a part of it.
func (f configFile) replace(t *testing.T, content string) {
	t.Helper()
	check(t, os.Rename(write(t, filepath.Dir(f.path), "next", content), f.path))
}

// metric returns a line of a metric of the reloads. label is the one besides apiserver_id_hash.
func (f configFile) metric(name, label, value string) string {
	return fmt.Sprintf(`apiserver_%s_config_controller_%s\{apiserver_id_hash="sha256:[0-9a-f]{64}",%s\} %s`, f.name, name, label, value)
}

// inEffect returns the line of the metric that names a content.
func (f configFile) inEffect(content string) string {
	return f.metric("last_config_info", fmt.Sprintf(`hash="sha256:%x"`, sha256.Sum256([]byte(content))), "1")
}

// A changed configuration counts as a reload with the next scrape after a second, and a broken one
// as a failure that leaves the previous content in effect.
func TestReloadMetrics(t *testing.T) {
	const header = "apiVersion: apiserver.config.k8s.io/v1\nkind: "
	files := []configFile{
		newConfigFile(t, "authentication", header+"AuthenticationConfiguration\n"),
		newConfigFile(t, "authorization", header+"AuthorizationConfiguration\nauthorizers: [{type: RBAC, name: rbac}]\n"),
		newConfigFile(t, "encryption", encryptionConfig("secrets", provider("aescbc", "old"))),
	}
	server := servertest.Start(t, miniapi.Config{
		Secure:                   &miniapi.Secure{AuthenticationConfig: files[0].path},
		AuthorizationConfig:      files[1].path,
		EncryptionProviderConfig: files[2].path, EncryptionProviderConfigAutomaticReload: true,
	})
	const time = `[1-9]\.\d+e\+09`
	for _, f := range files {
		expectMetrics(t, server, f.inEffect(f.content))
		f.replace(t, "broken")
		await(t, func() bool {
			return missingMetric(t, server, f.metric("automatic_reloads_total", `status="failure"`, `[1-9]\d*`),
				f.metric("automatic_reload_last_timestamp_seconds", `status="failure"`, time)) == ""
		})
		expectMetrics(t, server, f.inEffect(f.content))
		f.replace(t, f.content+"# changed\n")
		await(t, func() bool {
			return missingMetric(t, server, f.metric("automatic_reloads_total", `status="success"`, "1"),
				f.metric("automatic_reload_last_timestamp_seconds", `status="success"`, time), f.inEffect(f.content+"# changed\n")) == ""
		})
	}
}

// Without files there are no metrics of reloads.
func TestNoReloadMetrics(t *testing.T) {
	server := secureServer(t, nil)
	if line := missingMetric(t, server, `# TYPE apiserver_[a-z]+_config_controller_.*`); line == "" {
		t.Error("there are metrics of reloads")
	}
}
