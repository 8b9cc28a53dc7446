package miniapitest

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/miniapi/miniapi"
)

// Options of a server for a test. The zero value is right for most.
type Options struct {
	// Config is the server's own. Its Logger replaces the log of the test.
	Config miniapi.Config
	// CRDs are files and folders of CustomResourceDefinitions that are served from
	// the start, beside those of Config: "../config/crd/bases".
	CRDs []string
	// LogLevel is the least level that the test logs. Default: slog.LevelWarn.
	LogLevel slog.Leveler
	// FailOnLeak fails the test if requests are open at its end. Default: they
	// are logged.
	FailOnLeak bool
}

// Start returns a server that answers requests and ends with the test. If it
// cannot start, the test ends at once; like t.FailNow, Start is therefore for
// the goroutine of the test.
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
		// Stop sets a limit to its time by itself, and t.Context() is over.
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("miniapitest: the server of %s did not end well: %v", t.Name(), err)
		}
	})
	return server
}
