// Package zaplog lets libraries that log through zap write to log/slog: New
// makes a zap logger whose entries end in a slog handler. Nothing process-wide
// is touched.
package zaplog

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New returns a zap logger that writes to logger. Options go to zap; one that
// sets hooks for Panic and Fatal decides what these do after the entry is
// written, for slog has no levels that end anything.
func New(logger *slog.Logger, opts ...zap.Option) *zap.Logger {
	return zap.New(&core{handler: logger.Handler()}, opts...)
}

// core is a zapcore.Core over a slog handler. Invariant: immutable.
type core struct {
	handler slog.Handler
}

// Enabled implements zapcore.LevelEnabler.
func (c *core) Enabled(level zapcore.Level) bool {
	return c.handler.Enabled(context.Background(), Level(level))
}

// With implements zapcore.Core.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	handler := c.handler
	for i, field := range fields {
		if field.Type == zapcore.NamespaceType {
			inner := core{handler: handler.WithGroup(field.Key)}
			return inner.With(fields[i+1:])
		}
		if attr, ok := attribute(field); ok {
			handler = handler.WithAttrs([]slog.Attr{attr})
		}
	}
	return &core{handler: handler}
}

// Check implements zapcore.Core.
func (c *core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements zapcore.Core.
func (c *core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	record := slog.NewRecord(entry.Time, Level(entry.Level), entry.Message, entry.Caller.PC)
	if entry.LoggerName != "" {
		record.AddAttrs(slog.String("logger", entry.LoggerName))
	}
	record.AddAttrs(attributes(fields)...)
	if entry.Stack != "" {
		record.AddAttrs(slog.String("stack", entry.Stack))
	}
	return c.handler.Handle(context.Background(), record)
}

// Sync implements zapcore.Core. Handlers of slog have nothing to flush.
func (c *core) Sync() error { return nil }

// Level is the slog level for one of zap; all that zap has above Error is
// Error.
func Level(level zapcore.Level) slog.Level {
	switch {
	case level < zapcore.InfoLevel:
		return slog.LevelDebug
	case level == zapcore.InfoLevel:
		return slog.LevelInfo
	case level == zapcore.WarnLevel:
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}
