package registry

import (
	"context"
	"maps"
	"sync"
)

// AuditAnnotations collects the annotations of an event of the audit log. Safe for concurrent use.
type AuditAnnotations struct {
	mu     sync.Mutex // guards values
	values map[string]string
}

// WithAuditAnnotations returns a context in which AddAuditAnnotation adds to the returned
// collector.
func WithAuditAnnotations(ctx context.Context) (context.Context, *AuditAnnotations) {
	a := &AuditAnnotations{}
	return context.WithValue(ctx, auditKey, a), a
}

// AuditAnnotationsFrom returns the collector of a context, nil if it has none.
func AuditAnnotationsFrom(ctx context.Context) *AuditAnnotations {
	a, _ := ctx.Value(auditKey).(*AuditAnnotations)
	return a
}

// AddAuditAnnotation adds an annotation to the audit log, if the context has a collector. As in
// kube-apiserver, the first value of a key is kept.
func AddAuditAnnotation(ctx context.Context, key, value string) {
	if a := AuditAnnotationsFrom(ctx); a != nil {
		a.Add(key, value)
	}
}

// Add adds an annotation. The first value of a key is kept.
func (a *AuditAnnotations) Add(key, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, set := a.values[key]; set {
		return
	}
	if a.values == nil {
		a.values = map[string]string{}
	}
	a.values[key] = value
}

// All returns a copy of the annotations so far, nil if there are none.
func (a *AuditAnnotations) All() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.values)
}
