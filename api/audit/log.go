package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	upstream "k8s.io/apiserver/pkg/audit"
)

// Stdout is the Path of the standard output.
const Stdout = "-"

// Config configures a Log. The zero value is no audit log.
type Config struct {
	// Path is the file that events are appended to, Stdout for the standard output. Default: no
	// audit log.
	Path string
	// PolicyFile has the Policy. Default: the metadata of every request.
	PolicyFile string
	// Logger logs failed writes. Nil: no logs.
	Logger *slog.Logger
}

// Validate returns the error of the configuration, in one line. It reads the policy file.
func (c Config) Validate() error {
	if c.Path == "" && c.PolicyFile != "" {
		return errors.New("--audit-policy-file has no effect without an audit log: set --audit-log-path to a file, or to - for the standard output")
	}
	_, err := readPolicy(c.PolicyFile)
	return err
}

// Log is an open audit log. Its methods are safe for concurrent use.
type Log struct {
	policy upstream.PolicyRuleEvaluator
	logger *slog.Logger

	mu     sync.Mutex // guards the fields below
	out    io.WriteCloser
	failed bool // the last write has failed
}

// Open opens the file of the audit log and returns the log, nil if the configuration has none.
func Open(c Config) (*Log, error) {
	if c.Path == "" {
		return nil, nil
	}
	rules, err := readPolicy(c.PolicyFile)
	if err != nil {
		return nil, err
	}
	l := &Log{policy: newEvaluator(rules), logger: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)), out: standardOutput{os.Stdout}}
	if c.Path != Stdout {
		if l.out, err = openFile(c.Path); err != nil {
			return nil, fmt.Errorf("--audit-log-path: %w: use a file that can be written", err)
		}
	}
	return l, nil
}

// openFile opens a file to append to. Other users cannot read it: it may have the content of
// Secrets.
func openFile(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// standardOutput is a file that Close leaves open.
type standardOutput struct{ io.Writer }

// Close implements io.Closer.
func (standardOutput) Close() error { return nil }

// Close closes the file. Later events are discarded.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return nil
	}
	err := l.out.Close()
	l.out = nil
	return err
}

// write appends an event. It returns when the operating system has the line, so events do not wait
// in memory. The first of several failed writes in a row is logged.
func (l *Log) write(event *auditv1.Event) {
	line, err := json.Marshal(event)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return
	}
	if err == nil {
		_, err = l.out.Write(append(line, '\n'))
	}
	if err != nil && !l.failed {
		l.logger.Error("an event of the audit log is lost", "auditID", event.AuditID, "error", err)
	}
	l.failed = err != nil
}
