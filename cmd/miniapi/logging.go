package main

import (
	"log/slog"
	"os"

	"k8s.io/klog/v2"
)

// requestVerbosity is the verbosity from which requests are logged, as in kube-apiserver.
const requestVerbosity = 3

// verbosityUsage is the text of -v for commands with servers.
const verbosityUsage = "log `LEVEL`: 0 warnings, 2 information, 3 requests, 4 debugging, 7 etcd"

// newLogger returns the logger of the process. It also takes the messages of klog, the logger of
// client-go and apimachinery. From verbosity 7 on it takes the records of etcd, which are below
// slog.LevelDebug.
func newLogger(verbosity int) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case verbosity >= 7:
		level = slog.Level(-4 * (verbosity - 5))
	case verbosity >= 4:
		level = slog.LevelDebug
	case verbosity >= 1:
		level = slog.LevelInfo
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(logger.With("component", "klog"))
	return logger
}
