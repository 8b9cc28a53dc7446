package embedded

import (
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// harmless tells what etcd logs as a warning or an error although nothing is
// wrong, and puts right by itself a moment later. text is the message, and the
// error if there is one.
func harmless(text string) bool {
	switch {
	// A new member learns its cluster's version before the database has the
	// term of the first election, which is written with the next commit.
	case strings.HasSuffix(text, "missing term information"):
		return true
	// A member that was killed has yet to apply what it finds in its log, and
	// stands for election at the next tick.
	case strings.HasSuffix(text, "since there are still pending configuration changes to apply"):
		return true
	// A member is stopped before it has told its cluster's version.
	case text == "failed to update cluster version: etcdserver: request cancelled":
		return true
	}
	return false
}

// demoted makes harmless records debug records, so that a start without faults
// is a quiet one.
func demoted() zap.Option {
	return zap.WrapCore(func(core zapcore.Core) zapcore.Core { return demotion{core} })
}

type demotion struct{ zapcore.Core }

// With implements zapcore.Core.
func (d demotion) With(fields []zapcore.Field) zapcore.Core { return demotion{d.Core.With(fields)} }

// Check implements zapcore.Core.
func (d demotion) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if d.Enabled(entry.Level) {
		return checked.AddCore(entry, d)
	}
	return checked
}

// Write implements zapcore.Core.
func (d demotion) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	if harmless(textOf(entry, fields)) {
		entry.Level = zapcore.DebugLevel
	}
	if !d.Enabled(entry.Level) {
		return nil
	}
	return d.Core.Write(entry, fields)
}

func textOf(entry zapcore.Entry, fields []zapcore.Field) string {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			return entry.Message + ": " + err.Error()
		}
	}
	return entry.Message
}
