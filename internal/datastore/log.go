package datastore

import (
	"context"
	"log/slog"
)

// demotion is subtracted from the levels of etcd's records below warnings. etcd, bbolt and raft
// log about thirty records for one start, which only a reader who examines etcd needs.
const demotion = 8

// demotingHandler passes records of debugging and information on with a level below
// slog.LevelDebug.
type demotingHandler struct{ slog.Handler }

func demoted(level slog.Level) slog.Level {
	if level < slog.LevelWarn {
		level -= demotion
	}
	return level
}

// Enabled implements slog.Handler.
func (h demotingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.Handler.Enabled(ctx, demoted(level))
}

// Handle implements slog.Handler.
func (h demotingHandler) Handle(ctx context.Context, record slog.Record) error {
	record.Level = demoted(record.Level)
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h demotingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return demotingHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h demotingHandler) WithGroup(name string) slog.Handler {
	return demotingHandler{h.Handler.WithGroup(name)}
}
