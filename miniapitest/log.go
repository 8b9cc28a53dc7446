package miniapitest

import (
	"io"
	"log/slog"
	"sync"
	"testing"
)

// newLogger returns a logger that writes to the output of the test. Nil level: slog.LevelWarn.
func newLogger(t testing.TB, level slog.Leveler) *slog.Logger {
	if level == nil {
		level = slog.LevelWarn
	}
	out := &output{to: t.Output()}
	t.Cleanup(out.end)
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
}

// output writes to the output of a test. It discards writes after the end of the test, which would
// make package testing panic.
type output struct {
	mu sync.Mutex // guards to, and makes end wait for a Write
	to io.Writer  // nil after the end
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		return len(p), nil
	}
	return o.to.Write(p)
}

func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to = nil
}
