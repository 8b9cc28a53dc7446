package miniapitest

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/miniapi/miniapi"
)

// Options configures a server for a test. The zero value suits most tests.
type Options struct {
	// Config is the configuration of the server. If its Logger is set, the server
	// does not log to the test.
	Config miniapi.Config
	// CRDs are files and folders of CustomResourceDefinitions that the server serves
	// from the start, in addition to Config.CRDs. Example: "../config/crd/bases".
	CRDs []string
	// LogLevel is the lowest level that is logged. Default: slog.LevelWarn.
	LogLevel slog.Leveler
	// FailOnLeak fails the test if requests are open at its end. By default they are
	// only logged.
	FailOnLeak bool
}

// Start returns a server that accepts requests and stops with the test. If the server cannot start,
// Start calls t.Fatal, so it must be called on the goroutine of the test.
func Start(t testing.TB, options Options) *miniapi.Server {
	t.Helper()
	config := options.Config
	if config.Logger == nil {
		config.Logger = newLogger(t, options.LogLevel)
	}
	config.CRDs = slices.Concat(config.CRDs, options.CRDs)
	server, err := miniapi.Start(t.Context(), config)
	if err != nil {
		t.Fatalf("miniapitest: the server of %s did not start: %v", t.Name(), err)
	}
	t.Cleanup(func() {
		t.Helper()
		reportLeaks(t, server, options.FailOnLeak)
		// t.Context() has ended, and Stop has its own time limit.
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("miniapitest: the server of %s did not stop cleanly: %v", t.Name(), err)
		}
	})
	return server
}
