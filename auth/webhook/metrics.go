package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/internal/collectors"
)

// Metrics are the metrics of the webhook authorizers of one server, under the names of
// kube-apiserver. It is a prometheus.Collector and safe for concurrent use.
type Metrics struct {
	collectors.All
	evaluations, failOpen *prometheus.CounterVec
	durations             *prometheus.HistogramVec
}

// NewMetrics returns metrics without values.
func NewMetrics() *Metrics {
	labels := []string{"name", "result"}
	m := &Metrics{
		evaluations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_authorization_webhook_evaluations_total", Help: "Requests to authorization webhooks, by webhook and result.",
		}, labels),
		failOpen: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_authorization_webhook_evaluations_fail_open_total",
			Help: "Authorizations without an opinion because the webhook failed, by webhook and result.",
		}, labels),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_authorization_webhook_duration_seconds",
			Help: "Duration in seconds of requests to authorization webhooks, by webhook and result.", Buckets: prometheus.DefBuckets,
		}, labels),
	}
	m.All = collectors.All{m.evaluations, m.failOpen, m.durations}
	return m
}

// request observes one request to a webhook.
func (m *Metrics) request(ctx context.Context, webhook string, took time.Duration, err error) {
	result := resultOf(ctx, err)
	m.evaluations.WithLabelValues(webhook, result).Inc()
	m.durations.WithLabelValues(webhook, result).Observe(took.Seconds())
}

// failedOpen counts an authorization for which a failed webhook has no opinion.
func (m *Metrics) failedOpen(ctx context.Context, webhook string, err error) {
	if ctx.Err() == nil {
		m.failOpen.WithLabelValues(webhook, resultOf(ctx, err)).Inc()
	}
}

// resultOf returns the value of the label result.
func resultOf(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return "success"
	case ctx.Err() != nil:
		return "canceled"
	case utilnet.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err):
		return "timeout"
	}
	return "error"
}
