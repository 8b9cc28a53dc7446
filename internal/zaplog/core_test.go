package zaplog_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/miniapi/miniapi/internal/zaplog"
)

func TestEntries(t *testing.T) {
	for name, tc := range map[string]struct {
		log  func(*zap.Logger)
		want string
	}{
		"debug": {
			func(l *zap.Logger) { l.Debug("m") },
			`level=DEBUG msg=m`,
		},
		"info": {
			func(l *zap.Logger) { l.Info("m") },
			`level=INFO msg=m`,
		},
		"warn": {
			func(l *zap.Logger) { l.Warn("m") },
			`level=WARN msg=m`,
		},
		"error": {
			func(l *zap.Logger) { l.Error("m") },
			`level=ERROR msg=m`,
		},
		"levels above error become error": {
			func(l *zap.Logger) { l.DPanic("m") },
			`level=ERROR msg=m`,
		},
		"fields keep their order and type": {
			func(l *zap.Logger) {
				l.Info("m", zap.String("s", "a b"), zap.Int("i", -1), zap.Uint64("u", 1), zap.Bool("b", true),
					zap.Duration("d", time.Second), zap.Strings("l", []string{"x", "y"}), zap.Error(errors.New("e")))
			},
			`level=INFO msg=m s="a b" i=-1 u=1 b=true d=1s l="[x y]" error=e`,
		},
		"skipped fields and nil errors are omitted": {
			func(l *zap.Logger) { l.Info("m", zap.Skip(), zap.Error(nil), zap.Int("i", 1)) },
			`level=INFO msg=m i=1`,
		},
		"a namespace groups the fields after it": {
			func(l *zap.Logger) { l.Info("m", zap.Int("a", 1), zap.Namespace("n"), zap.Int("b", 2)) },
			`level=INFO msg=m a=1 n.b=2`,
		},
		"fields of the logger come first": {
			func(l *zap.Logger) { l.With(zap.Int("a", 1)).Info("m", zap.Int("b", 2)) },
			`level=INFO msg=m a=1 b=2`,
		},
		"a namespace of the logger groups the fields after it": {
			func(l *zap.Logger) { l.With(zap.Namespace("n"), zap.Int("a", 1)).Info("m", zap.Int("b", 2)) },
			`level=INFO msg=m n.a=1 n.b=2`,
		},
		"the name of the logger is an attribute": {
			func(l *zap.Logger) { l.Named("raft").Info("m") },
			`level=INFO msg=m logger=raft`,
		},
		"objects are encoded": {
			func(l *zap.Logger) { l.Info("m", zap.Dict("o", zap.Int("a", 1)), zap.Inline(inline{})) },
			`level=INFO msg=m o=map[a:1] x=1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, record(slog.LevelDebug, tc.log)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLevelOfTheHandlerApplies(t *testing.T) {
	got := record(slog.LevelWarn, func(l *zap.Logger) {
		l.Info("no")
		l.Warn("yes")
	})
	if got != "level=WARN msg=yes" {
		t.Errorf("got %s", got)
	}
}

func TestHooksRunEvenIfNothingIsLogged(t *testing.T) {
	hook := &hook{}
	logger := zaplog.New(slog.New(slog.DiscardHandler), zap.WithFatalHook(hook))
	logger.Fatal("gone")
	if hook.message != "gone" {
		t.Errorf("hook got %q", hook.message)
	}
}

func TestCaller(t *testing.T) {
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{AddSource: true})
	zaplog.New(slog.New(handler), zap.AddCaller()).Info("m")
	if !strings.Contains(out.String(), "core_test.go:") {
		t.Errorf("got %s", out.String())
	}
}

func BenchmarkDiscarded(b *testing.B) {
	logger := zaplog.New(slog.New(slog.DiscardHandler))
	for b.Loop() {
		logger.Info("m", zap.String("s", "a"))
	}
}

// record returns the log output as text, without times.
func record(level slog.Level, log func(*zap.Logger)) string {
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
			if len(groups) == 0 && attr.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return attr
		},
	})
	logger := slog.New(handler)
	log(zaplog.New(logger))
	return strings.TrimSpace(out.String())
}

type hook struct{ message string }

func (h *hook) OnWrite(entry *zapcore.CheckedEntry, _ []zapcore.Field) { h.message = entry.Message }

type inline struct{}

func (inline) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	encoder.AddInt("x", 1)
	return nil
}
