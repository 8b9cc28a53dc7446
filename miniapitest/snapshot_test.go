package miniapitest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/miniapitest"
)

func createConfigMap(t testing.TB, server *miniapitest.Server, name string) {
	t.Helper()
	if code, body := send(t, server.RESTConfig(), "POST", configMaps, fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); code != 201 {
		t.Fatalf("%d: %s", code, body)
	}
}

// exists reports whether a ConfigMap exists.
func exists(t testing.TB, server *miniapitest.Server, name string) bool {
	t.Helper()
	code, body := send(t, server.RESTConfig(), "GET", configMaps+"/"+name, "")
	if code != 200 && code != 404 {
		t.Fatalf("%d: %s", code, body)
	}
	return code == 200
}

func TestResetAndRestore(t *testing.T) {
	ctx := context.Background()
	server := miniapitest.Start(t, miniapitest.Options{})
	createConfigMap(t, server, "a")
	snapshot, err := server.Snapshot(ctx)
	check(t, err)
	check(t, server.Reset(ctx, miniapitest.ResetOptions{}))
	if exists(t, server, "a") {
		t.Error("an object survives the reset")
	}
	check(t, snapshot.Restore(ctx))
	if !exists(t, server, "a") {
		t.Error("an object of the snapshot is missing")
	}
}

func TestForkEndsWithItsTest(t *testing.T) {
	origin := miniapitest.Start(t, miniapitest.Options{})
	createConfigMap(t, origin, "a")
	var fork *miniapitest.Server
	t.Run("fork", func(t *testing.T) {
		fork = origin.Fork(t)
		createConfigMap(t, fork, "b")
		if !exists(t, fork, "a") || exists(t, origin, "b") {
			t.Error("the fork does not begin with the objects, or is not independent")
		}
	})
	if err := fork.InstallCRDs(context.Background()); err == nil {
		t.Error("the fork is running after its test")
	}
}

func TestTemplateIsPreparedOnce(t *testing.T) {
	crd := filepath.Join(t.TempDir(), "crd.yaml")
	check(t, os.WriteFile(crd, []byte(definition), 0o600))
	prepared := 0
	template := miniapitest.NewTemplate(
		miniapitest.Options{CRDs: []string{crd}},
		func(_ context.Context, server *miniapitest.Server) error {
			prepared++
			createConfigMap(t, server, "fixture")
			return nil
		},
	)
	t.Run("parallel tests", func(t *testing.T) {
		for i := 0; i < 5; i++ {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				server := template.Start(t)
				createConfigMap(t, server, "same")
				if code, body := send(t, server.RESTConfig(), "GET", "/apis/example.com/v1", ""); code != 200 || !exists(t, server, "fixture") {
					t.Errorf("the fork is not prepared: %d: %s", code, body)
				}
			})
		}
	})
	if prepared != 1 {
		t.Errorf("prepared %d times", prepared)
	}
}

func TestFailedTemplate(t *testing.T) {
	failing := miniapitest.NewTemplate(miniapitest.Options{}, func(context.Context, *miniapitest.Server) error {
		return errors.New("no fixtures")
	})
	for i := 0; i < 2; i++ {
		got := runTest(func(t testing.TB) { failing.Start(t) })
		if !got.failed || !strings.Contains(got.log.String(), "no fixtures") {
			t.Errorf("failed %v, log %q", got.failed, got.log.String())
		}
	}
}

func TestRestartWithDataDirectory(t *testing.T) {
	options := miniapitest.Options{TLS: true, DataDir: t.TempDir()}
	first := miniapitest.Start(t, options)
	createConfigMap(t, first, "a")
	check(t, first.Stop(context.Background()))
	second := miniapitest.Start(t, options)
	if !exists(t, second, "a") {
		t.Error("an object is lost by the restart")
	}
	if first.RESTConfig().BearerToken != second.RESTConfig().BearerToken {
		t.Error("the credentials have changed")
	}
	if fork := second.Fork(t); !exists(t, fork, "a") {
		t.Error("the fork has no object")
	}
}
