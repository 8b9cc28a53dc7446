package encryption

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/storage/encryption/kmstest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

const (
	secret1 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	secret2 = "YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODk="
)

// builtIn are resources whose paths do not contain their group.
var builtIn = map[string]schema.GroupResource{
	"secrets": {Resource: "secrets"}, "configmaps": {Resource: "configmaps"}, "services/specs": {Resource: "services"},
	"deployments": {Group: "apps", Resource: "deployments"}, "events": {Resource: "events"},
}

// configuration returns an EncryptionConfiguration with one entry, which has providers in YAML, one
// per line.
func configuration(resources string, providers ...string) string {
	return "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" + entry(resources, providers...)
}

func entry(resources string, providers ...string) string {
	return "- resources: [" + resources + "]\n  providers:\n  - " + strings.Join(providers, "\n  - ") + "\n"
}

func keys(provider, name, secret string) string {
	return provider + ": {keys: [{name: " + name + ", secret: " + secret + "}]}"
}

func kms(name, socket string) string { return kmsWithin(name, socket, "1m") }

// kmsWithin returns a KMS provider whose requests have a time limit.
func kmsWithin(name, socket, timeout string) string {
	return "kms: {apiVersion: v2, name: " + name + ", endpoint: 'unix://" + socket + "', timeout: " + timeout + "}"
}

const identityProvider = "identity: {}"

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open returns the encryption of a configuration. Run is not called.
func open(t *testing.T, content string) *Encryption {
	t.Helper()
	return openConfig(t, Config{File: write(t, filepath.Join(t.TempDir(), "config.yaml"), content)})
}

func openConfig(t *testing.T, config Config) *Encryption {
	t.Helper()
	config.Resources = builtIn
	e, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// run calls Run until the end of the test.
func run(t *testing.T, e *Encryption) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// socket returns the path of a new socket, which may have 108 bytes at most.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kms")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func startPlugin(t *testing.T, path, keyID string) *kmstest.Plugin {
	t.Helper()
	p, err := kmstest.Start(path, keyID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func (e *Encryption) mustEncrypt(t *testing.T, key, data string) string {
	t.Helper()
	out, err := e.ToStorage(t.Context(), []byte(data), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// expect checks the result of a read.
func (e *Encryption) expect(t *testing.T, key, stored, data string, stale bool) {
	t.Helper()
	got, gotStale, err := e.FromStorage(t.Context(), []byte(stored), key)
	if err != nil || string(got) != data || gotStale != stale {
		t.Errorf("%s: got %q, stale %v, error %v; want %q, stale %v", key, got, gotStale, err, data, stale)
	}
}

// expectError checks the error of a read.
func (e *Encryption) expectError(t *testing.T, key, stored, want string) {
	t.Helper()
	got, _, err := e.FromStorage(t.Context(), []byte(stored), key)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %q, error %v; want an error with %q", key, got, err, want)
	}
}

var errLate = errors.New("it did not happen in a minute")

// receive waits until a channel is closed.
func receive(t *testing.T, from <-chan struct{}) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(time.Minute):
		t.Fatal(errLate)
	}
}
