package embedded

import (
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// noTermYet ends the error which etcd logs, as a warning and as an error, when
// a new member learns its cluster's version before the database has the term of
// the first election, which is written with the next commit. Nothing is wrong:
// etcd tries again some seconds later, and then it is there.
const noTermYet = "missing term information"

// demoted makes the records about it debug records, so that a start without
// faults is a quiet one.
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
	for _, field := range fields {
		err, ok := field.Interface.(error)
		if !ok || field.Type != zapcore.ErrorType || !strings.HasSuffix(err.Error(), noTermYet) {
			continue
		}
		if entry.Level = zapcore.DebugLevel; !d.Enabled(entry.Level) {
			return nil
		}
	}
	return d.Core.Write(entry, fields)
}
