// Package zaplog connects libraries that log through zap to log/slog: New returns a zap logger
// that writes to a slog handler. It changes no process-wide state.
package zaplog

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New returns a zap logger that writes to logger. Options go to zap. Hooks for Panic and Fatal
// run after the entry is written; slog has no levels that end a process.
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

// Sync implements zapcore.Core. A slog handler has nothing to flush.
func (c *core) Sync() error { return nil }

// Level converts a level of zap to one of slog. All levels above Error become Error.
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
