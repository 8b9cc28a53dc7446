package main

import (
	"log/slog"
	"os"

	"k8s.io/klog/v2"
)

// newLogger returns the logger of the process. It also takes the messages of klog, the logger of
// client-go and apimachinery.
func newLogger(verbosity int) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case verbosity >= 4:
		level = slog.LevelDebug
	case verbosity >= 1:
		level = slog.LevelInfo
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(logger.With("component", "klog"))
	return logger
}
