package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/internal/collectors"
	"github.com/miniapi/miniapi/registry"
)

// Impersonation has the metrics of constrained impersonation, under the names of kube-apiserver. It
// is a prometheus.Collector and safe for concurrent use.
type Impersonation struct {
	collectors.All
	attempts, checks                 *prometheus.CounterVec
	attemptDurations, checkDurations *prometheus.HistogramVec
}

// NewImpersonation returns metrics without values.
func NewImpersonation() *Impersonation {
	const prefix = "apiserver_impersonation_"
	labels := []string{"mode", "decision"}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: accessBuckets}, labels)
	}
	m := &Impersonation{
		attempts:         counter("attempts_total", "Requests that impersonate a user, by mode and decision."),
		attemptDurations: histogram("attempts_duration_seconds", "Duration of their authorization in seconds, by mode and decision."),
		checks:           counter("authorization_attempts_total", "Authorizations for impersonations, by mode and decision."),
		checkDurations: histogram("authorization_attempts_duration_seconds",
			"Duration in seconds of authorizations for impersonations, by mode and decision."),
	}
	m.All = collectors.All{m.attempts, m.attemptDurations, m.checks, m.checkDurations}
	return m
}

// Observe counts an attempt and its duration since started. err is nil if it was allowed. mode is
// then the mode that allowed it, or "legacy" if the verb impersonate did.
func (m *Impersonation) Observe(mode string, started time.Time, err error) {
	if err != nil {
		mode = ""
	}
	decision := decisionOf(err == nil)
	m.attempts.WithLabelValues(mode, decision).Inc()
	m.attemptDurations.WithLabelValues(mode, decision).Observe(time.Since(started).Seconds())
}

func decisionOf(allowed bool) string {
	if allowed {
		return "allowed"
	}
	return "denied"
}

// Authorizer returns an authorizer of impersonations that observes another one.
func (m *Impersonation) Authorizer(next registry.Authorizer) registry.Authorizer {
	return impersonationAuthorizer{next, m}
}

type impersonationAuthorizer struct {
	registry.Authorizer
	metrics *Impersonation
}

// Authorize implements registry.Authorizer.
func (a impersonationAuthorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	started := time.Now()
	decision, err := a.Authorizer.Authorize(ctx, access)
	mode, result := modeOf(access), decisionOf(decision.Allowed)
	a.metrics.checks.WithLabelValues(mode, result).Inc()
	a.metrics.checkDurations.WithLabelValues(mode, result).Observe(time.Since(started).Seconds())
	return decision, err
}

// modeOf returns the mode in the verb impersonate:MODE or impersonate-on:MODE:VERB.
func modeOf(access registry.Access) string {
	var verb string
	switch {
	case access.Resource != nil:
		verb = access.Resource.Verb
	case access.NonResource != nil:
		verb = access.NonResource.Verb
	}
	_, mode, constrained := strings.Cut(verb, ":")
	if !constrained {
		return "legacy"
	}
	mode, _, _ = strings.Cut(mode, ":")
	return mode
}
