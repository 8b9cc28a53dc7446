package certs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// fileEnv is a value that is reloaded from a file: its content, unless that is "invalid".
type fileEnv struct {
	*testing.T
	*Reloaded[string]
	path string
	log  bytes.Buffer
	// loads is the number of calls of load, missing the file that a content requires.
	loads   int
	missing string
}

func newFileEnv(t *testing.T) *fileEnv {
	e := &fileEnv{T: t, path: filepath.Join(t.TempDir(), "file")}
	e.write("first")
	load := func() (string, error) {
		e.loads++
		data, err := os.ReadFile(e.path)
		if err == nil && e.missing != "" {
			_, err = os.ReadFile(e.missing)
		}
		if string(data) == "invalid" {
			err = errors.New("invalid content")
		}
		return string(data), err
	}
	var err error
	if e.Reloaded, err = Reload(load, slog.New(slog.NewTextHandler(&e.log, nil)), e.path); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *fileEnv) write(content string) {
	e.Helper()
	if err := os.WriteFile(e.path, []byte(content), 0o600); err != nil {
		e.Fatal(err)
	}
}

// expect checks the value after the interval of checks.
func (e *fileEnv) expect(want string) {
	e.Helper()
	time.Sleep(reloadInterval)
	if got := e.Get(); got != want {
		e.Errorf("got %q, want %q", got, want)
	}
}

func TestReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFileEnv(t)
		e.write("second")
		if got := e.Get(); got != "first" {
			t.Errorf("the file was read again within a second: %q", got)
		}
		e.expect("second")
		e.write("invalid")
		e.expect("second")
		e.expect("second")
		if n := strings.Count(e.log.String(), "invalid content"); n != 1 {
			t.Errorf("the error was logged %d times:\n%s", n, e.log.String())
		}
		if e.loads != 3 {
			t.Errorf("%d loads of three contents", e.loads)
		}
		if err := os.Remove(e.path); err != nil {
			t.Fatal(err)
		}
		e.expect("second")
		e.write("third")
		e.expect("third")
	})
}

// A content is loaded again if a file that it names could not be read.
func TestReloadedWithAnotherFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFileEnv(t)
		e.missing = filepath.Join(t.TempDir(), "other")
		e.write("second")
		e.expect("first")
		if err := os.WriteFile(e.missing, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		e.expect("second")
	})
}

// Each content that was loaded or not is counted once, also if nothing but scrapes reads the value.
func TestReloadMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFileEnv(t)
		registry := prometheus.NewRegistry()
		registry.MustRegister(e.Collector("test"))
		expect := func(failures, successes float64, content string) {
			t.Helper()
			time.Sleep(reloadInterval)
			want := map[string]float64{fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))): 1}
			if failures > 0 {
				want["failure"] = failures
			}
			if successes > 0 {
				want["success"] = successes
			}
			if got := reloadValues(t, registry); !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		expect(0, 0, "first")
		for range 2 {
			e.write("invalid")
			expect(1, 0, "first")
		}
		e.write("second")
		expect(1, 1, "second")
		e.write("invalid")
		expect(2, 1, "second")
		e.write("second")
		expect(2, 1, "second")
		if err := os.Remove(e.path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			expect(3, 1, "second")
		}
	})
}

// reloadValues returns the values of the metrics of reloads by their label, without timestamps.
func reloadValues(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if !strings.HasSuffix(family.GetName(), "_timestamp_seconds") {
				values[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	return values
}

func TestReloadErrors(t *testing.T) {
	load := func() (string, error) { return "", errors.New("invalid content") }
	if _, err := Reload(load, nil, filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Reload(load, nil); err == nil {
		t.Error("the error of load is lost")
	}
}
