package encryption

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// log is a log that several goroutines write and a test reads.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// await waits until the log has a text.
func (l *log) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		found := strings.Contains(l.text.String(), text)
		l.mu.Unlock()
		if found {
			return
		}
	}
	t.Fatalf("the log has no %q:\n%s", text, l.text.String())
}

// A changed file takes effect if it can be used. Its values were written with the old key, so they
// are stale.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, configuration("secrets", keys("aescbc", "old", secret1)))
	logged := &log{}
	e := openConfig(t, Config{File: path, AutomaticReload: true, ReloadInterval: time.Millisecond, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	run(t, e)
	stored := e.mustEncrypt(t, secretKey, "value")

	write(t, path, configuration("secrets", keys("aescbc", "new", "c2hvcnQ=")))
	logged.await(t, "was not reloaded")
	e.expect(t, secretKey, stored, "value", false)

	changed := e.Changed()
	write(t, path, configuration("secrets", keys("aescbc", "new", secret2), keys("aescbc", "old", secret1)))
	receive(t, changed)
	logged.await(t, "the encryption configuration was reloaded")
	e.expect(t, secretKey, stored, "value", true)
	if rewritten := e.mustEncrypt(t, secretKey, "value"); !strings.HasPrefix(rewritten, "k8s:enc:aescbc:v1:new:") {
		t.Errorf("written as %.40q after the reload", rewritten)
	}
	for _, secret := range []string{secret1, secret2} {
		if strings.Contains(logged.text.String(), secret) {
			t.Error("the log contains a secret")
		}
	}
}

// Without automatic reload a changed file has no effect.
func TestNoReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, configuration("secrets", keys("aescbc", "old", secret1)))
	e := openConfig(t, Config{File: path, ReloadInterval: time.Nanosecond})
	run(t, e)
	write(t, path, configuration("secrets", identityProvider))
	if stored := e.mustEncrypt(t, secretKey, "value"); !strings.HasPrefix(stored, "k8s:enc:aescbc:v1:old:") {
		t.Errorf("written as %.40q", stored)
	}
	if e.HasHealthCheck() {
		t.Error("there is a health check without KMS plugins")
	}
}

// A log message warns of a file that other users can read.
func TestModeWarning(t *testing.T) {
	logged := &log{}
	logger := slog.New(slog.NewTextHandler(logged, nil))
	path := write(t, filepath.Join(t.TempDir(), "config.yaml"), configuration("secrets", identityProvider))
	openConfig(t, Config{File: path, Logger: logger})
	if logged.text.Len() > 0 {
		t.Errorf("a file with the mode 0600 leads to %s", logged.text.String())
	}
}
