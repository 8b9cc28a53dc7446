package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/miniapi/miniapi/internal/zaplog"
)

func TestHarmlessRecordsAreLoweredToDebug(t *testing.T) {
	missing := errors.New("missing term information")
	for name, tc := range map[string]struct {
		log  func(*zap.Logger)
		want string
	}{
		"no term yet, as a warning": {
			func(l *zap.Logger) { l.Warn("Failed to detect schema version", zap.Error(missing)) },
			"level=DEBUG",
		},
		"no term yet, as an error": {
			func(l *zap.Logger) {
				l.With(zap.Int("a", 1)).Error("failed to update storage version", zap.Int("b", 2), zap.Error(fmt.Errorf("cannot detect: %w", missing)))
			},
			"level=DEBUG",
		},
		"an election that has to wait": {
			func(l *zap.Logger) {
				l.Warn("1 cannot campaign at term 1 since there are still pending configuration changes to apply")
			},
			"level=DEBUG",
		},
		"a stop before the version is published": {
			func(l *zap.Logger) {
				l.Warn("failed to update cluster version", zap.Error(errors.New("etcdserver: request cancelled")))
			},
			"level=DEBUG",
		},
		"a stop before a task of etcd begins": {
			func(l *zap.Logger) { l.Warn("server has stopped; skipping GoAttach") },
			"level=DEBUG",
		},
		"a slow request": {
			func(l *zap.Logger) {
				l.Warn("apply request took too long", zap.Duration("took", time.Second), zap.Error(errors.New("etcdserver: mvcc: database space exceeded")))
			},
			"level=DEBUG",
		},
		"a slow read": {
			func(l *zap.Logger) { l.Warn("waiting for ReadIndex response took too long, retrying") },
			"level=DEBUG",
		},
		"a slow disk": {
			func(l *zap.Logger) { l.Warn("slow fdatasync", zap.Duration("took", 2*time.Second)) },
			"level=DEBUG",
		},
		"a system that does not count open files": {
			func(l *zap.Logger) {
				l.Warn("failed to get file descriptor usage", zap.Error(errors.New("cannot get FDUsage on windows")))
			},
			"level=DEBUG",
		},
		"other errors keep their level": {
			func(l *zap.Logger) { l.Error("failed to update storage version", zap.Error(errors.New("disk full"))) },
			"level=ERROR",
		},
		"warnings without an error keep their level": {
			func(l *zap.Logger) { l.Warn("slow") },
			"level=WARN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := logged(slog.LevelDebug, tc.log); !strings.Contains(got, tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			quiet := logged(slog.LevelWarn, tc.log)
			if (quiet == "") != (tc.want == "level=DEBUG") {
				t.Errorf("at level Warn the log contains %q", quiet)
			}
		})
	}
}

func logged(level slog.Level, log func(*zap.Logger)) string {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))
	log(zaplog.New(logger, demoteHarmless()))
	return out.String()
}
