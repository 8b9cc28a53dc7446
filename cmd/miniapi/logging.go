package main

import (
	"context"
	"log/slog"
	"math"
	"os"

	"k8s.io/klog/v2"
)

// requestVerbosity is the verbosity from which requests are logged, as in kube-apiserver.
const requestVerbosity = 3

// verbosityUsage is the text of -v for commands with servers.
const verbosityUsage = "log `LEVEL`: 0 warnings, 2 information, 3 requests, 4 debugging, 7 etcd"

// vmoduleUsage is the text of --vmodule.
const vmoduleUsage = "comma-separated `COMPONENT=LEVEL` pairs with levels of -v for components, the values of component= in the log, such as cache=4"

// newLogger returns the logger of the process. It also takes the messages of klog, the logger of
// client-go and apimachinery. From verbosity 7 on it takes the records of etcd, which are below
// slog.LevelDebug. Components may have a verbosity of their own.
func newLogger(verbosity int, components map[string]int) *slog.Logger {
	text := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.Level(math.MinInt)})
	logger := slog.New(componentHandler{Handler: text, level: levelOf(verbosity), components: components})
	klog.SetSlogLogger(logger.With("component", "klog"))
	return logger
}

// levelOf returns the lowest level that is logged at a verbosity.
func levelOf(verbosity int) slog.Level {
	switch {
	case verbosity >= 7:
		return slog.Level(-4 * (verbosity - 5))
	case verbosity >= 4:
		return slog.LevelDebug
	case verbosity >= 1:
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// componentHandler passes records on from a level, which depends on the attribute "component".
type componentHandler struct {
	slog.Handler
	level      slog.Level
	components map[string]int // verbosities
}

// Enabled implements slog.Handler.
func (h componentHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithAttrs implements slog.Handler.
func (h componentHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	for _, attr := range attrs {
		if verbosity, ok := h.components[attr.Value.String()]; ok && attr.Key == "component" {
			h.level = levelOf(verbosity)
		}
	}
	return h
}

// WithGroup implements slog.Handler.
func (h componentHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
