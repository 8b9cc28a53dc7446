package requestlog

import (
	"context"
	"log/slog"
	"sync"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/versioner"
)

// Config configures a Log. The zero value records nothing.
type Config struct {
	// Logger receives a line per request at level Info, also if its handler is not enabled for
	// that level. Nil: nothing is logged.
	Logger *slog.Logger
	// Keep is the number of records that Recent returns at most.
	Keep int
	// Observe is called with the record of each request that is complete. Nil: it is not called.
	Observe func(record *request.Record)
}

// Log receives the records of requests. A nil Log records nothing. Safe for concurrent use.
type Log struct {
	logger  *slog.Logger
	observe func(record *request.Record)

	mu     sync.Mutex // guards the fields below
	recent []*request.Record
	next   int // index of the oldest record, once recent is full
}

// New returns a Log, nil if the config records nothing.
func New(config Config) *Log {
	if config.Logger == nil && config.Keep <= 0 && config.Observe == nil {
		return nil
	}
	return &Log{logger: config.Logger, observe: config.Observe, recent: make([]*request.Record, 0, max(config.Keep, 0))}
}

// Add logs, keeps and observes the record of a request that is complete.
func (l *Log) Add(ctx context.Context, record *request.Record) {
	if l.logger != nil {
		_ = l.logger.Handler().Handle(ctx, line(record)) // as slog.Logger, which ignores the error
	}
	if l.observe != nil {
		l.observe(record)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.recent) < cap(l.recent):
		l.recent = append(l.recent, record)
	case len(l.recent) > 0:
		l.recent[l.next] = record
		l.next = (l.next + 1) % len(l.recent)
	}
}

// Recent returns the kept records in the order in which the requests ended.
func (l *Log) Recent() []request.Record {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	records := make([]request.Record, len(l.recent))
	for i := range records {
		records[i] = *l.recent[(l.next+i)%len(l.recent)]
	}
	return records
}

// line returns the log line of a record. Attributes without a value are left out.
func line(r *request.Record) slog.Record {
	out := slog.NewRecord(r.Time.Add(r.Duration), slog.LevelInfo, "request", 0)
	add := func(key, value string) {
		if value != "" {
			out.AddAttrs(slog.String(key, value))
		}
	}
	add("verb", r.Verb)
	add("resource", r.GroupResource())
	add("name", r.NamespacedName())
	out.AddAttrs(slog.Int("code", r.Code))
	add("reason", r.Reason)
	add("resourceVersion", r.ResourceVersion)
	if r.Revision != 0 {
		add("storedResourceVersion", versioner.Format(r.Revision))
	}
	out.AddAttrs(slog.Duration("took", r.Duration))
	add("user", r.User)
	add("impersonatedUser", r.ImpersonatedUser)
	add("userAgent", r.UserAgent)
	add("method", r.Method)
	add("uri", r.URI)
	add("auditID", r.AuditID)
	return out
}
