package embedded

import (
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// harmless reports whether a warning or an error of etcd's log describes a temporary state that
// etcd corrects by itself. text is the message, followed by the error if there is one.
func harmless(text string) bool {
	switch {
	// A new member reads the cluster version before the database contains the term of the first
	// election, which the next commit writes.
	case strings.HasSuffix(text, "missing term information"):
		return true
	// A member that was killed applies the entries of its log first, and campaigns at the next
	// tick.
	case strings.HasSuffix(text, "since there are still pending configuration changes to apply"):
		return true
	// A member is stopped before it has published the cluster version, or has begun to.
	case text == "failed to update cluster version: etcdserver: request cancelled",
		text == "server has stopped; skipping GoAttach":
		return true
	// The machine is busy. Metrics of etcd count slow requests.
	case strings.HasPrefix(text, "apply request took too long"),
		strings.HasPrefix(text, "waiting for ReadIndex response took too long"),
		strings.HasPrefix(text, "slow fdatasync"):
		return true
	// macOS and Windows do not count the open files of a process.
	case strings.HasPrefix(text, "failed to get file descriptor usage: cannot get FDUsage on "):
		return true
	}
	return false
}

// demoteHarmless lowers harmless records to the level Debug, so that a server that starts and
// serves without an error logs no warnings, on a busy machine too.
func demoteHarmless() zap.Option {
	return zap.WrapCore(func(core zapcore.Core) zapcore.Core { return demotingCore{core} })
}

type demotingCore struct{ zapcore.Core }

// With implements zapcore.Core.
func (d demotingCore) With(fields []zapcore.Field) zapcore.Core {
	return demotingCore{d.Core.With(fields)}
}

// Check implements zapcore.Core.
func (d demotingCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if d.Enabled(entry.Level) {
		return checked.AddCore(entry, d)
	}
	return checked
}

// Write implements zapcore.Core.
func (d demotingCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
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
