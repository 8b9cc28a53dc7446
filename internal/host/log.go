package host

import (
	"bytes"
	"slices"
	"sync"
)

// logLines is the number of lines that a log buffer keeps.
const logLines = 200

// logBuffer keeps the last lines of a log and delivers new ones to a follower. It is safe for
// concurrent use.
type logBuffer struct {
	mu     sync.Mutex // guards the fields below
	lines  []string
	total  int           // number of lines ever written
	closed bool          // no line follows
	wake   chan struct{} // closed by the next change
}

func newLogBuffer() *logBuffer { return &logBuffer{wake: make(chan struct{})} }

// Write implements io.Writer. Each call must write whole lines, as a slog.Handler does.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(p) {
		l.lines = append(l.lines, string(bytes.TrimRight(line, "\n")))
		l.total++
	}
	if surplus := len(l.lines) - logLines; surplus > 0 {
		l.lines = slices.Delete(l.lines, 0, surplus)
	}
	l.changed()
	return len(p), nil
}

func (l *logBuffer) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.changed()
}

// changed wakes the followers. The caller holds the mutex.
func (l *logBuffer) changed() {
	close(l.wake)
	l.wake = make(chan struct{})
}

// since returns the kept lines after the first n, the number of lines written, and a channel that
// is closed when there is more, or nil if no line follows.
func (l *logBuffer) since(n int) (lines []string, total int, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines = slices.Clone(l.lines[max(0, len(l.lines)-(l.total-n)):])
	if l.closed {
		return lines, l.total, nil
	}
	return lines, l.total, l.wake
}
