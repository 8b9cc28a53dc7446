package metrics

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/internal/collectors"
	"github.com/miniapi/miniapi/registry"
)

// The values of the label type.
const (
	typeAdmit    = "admit"
	typeValidate = "validate"
)

// Metrics are the metrics of the admission control of one server. It is a prometheus.Collector and
// safe for concurrent use.
type Metrics struct {
	collectors.All
	steps, controllers *prometheus.HistogramVec
	admit, validate    *durations // of steps

	webhooks                       *prometheus.HistogramVec
	requests, rejections, failOpen *prometheus.CounterVec
}

// New returns metrics without values.
func New() *Metrics {
	const prefix = "apiserver_admission_"
	buckets := []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	m := &Metrics{
		steps: histogram("step_admission_duration_seconds",
			"Duration in seconds of all mutating or all validating admission of a request.", buckets, "type", "operation", "rejected"),
		controllers: histogram("controller_admission_duration_seconds",
			"Duration in seconds of an admission plugin.", buckets, "name", "type", "operation", "rejected"),
		webhooks: histogram("webhook_admission_duration_seconds",
			"Duration in seconds of the call of a webhook.", append(buckets, 10, 25), "name", "type", "operation", "rejected"),
		requests: counter("webhook_request_total",
			"Calls of webhooks, by status code.", "name", "type", "operation", "code", "rejected"),
		rejections: counter("webhook_rejection_count",
			"Requests that a webhook, or a failed call of it, rejected.", "name", "type", "operation", "error_type", "rejection_code"),
		failOpen: counter("webhook_fail_open_count",
			"Failed calls of webhooks that were ignored.", "name", "type"),
	}
	m.All = collectors.All{m.steps, m.controllers, m.webhooks, m.requests, m.rejections, m.failOpen}
	m.admit = &durations{vec: m.steps, labels: []string{typeAdmit}}
	m.validate = &durations{vec: m.steps, labels: []string{typeValidate}}
	return m
}

// Plugins returns a chain whose steps are observed as plugins.
func (m *Metrics) Plugins(chain registry.Chain) registry.Chain {
	out := make(registry.Chain, len(chain))
	for i, step := range chain {
		out[i] = registry.AdmissionStep{
			Name:     step.Name,
			Admit:    m.plugin(step.Name, typeAdmit, step.Admit),
			Validate: m.plugin(step.Name, typeValidate, step.Validate),
		}
	}
	return out
}

type admitFunc = func(context.Context, *registry.Attributes) error

func (m *Metrics) plugin(name, phase string, run admitFunc) admitFunc {
	if run == nil {
		return nil
	}
	observed := &durations{vec: m.controllers, labels: []string{name, phase}}
	return func(ctx context.Context, a *registry.Attributes) error {
		started := time.Now()
		err := run(ctx, a)
		observed.observe(a.Operation, time.Since(started), err != nil)
		return err
	}
}

// ObserveAdmit implements registry.AdmissionObserver.
func (m *Metrics) ObserveAdmit(a *registry.Attributes, took time.Duration, err error) {
	m.admit.observe(a.Operation, took, err != nil)
}

// ObserveValidate implements registry.AdmissionObserver.
func (m *Metrics) ObserveValidate(a *registry.Attributes, took time.Duration, err error) {
	m.validate.observe(a.Operation, took, err != nil)
}

// WebhookCall is the call of a webhook.
type WebhookCall struct {
	Name      string
	Mutating  bool
	Operation registry.Operation
	Took      time.Duration
	// Code is the status code of the result, 0 if there is none.
	Code int
	// Rejection is the kind of error that rejected the request, "" if it was not rejected.
	Rejection Rejection
	// Canceled is set if the request ended during the call. It is not a failure of the webhook.
	Canceled bool
	// FailedOpen is set if a failure was ignored.
	FailedOpen bool
}

// Rejection is the kind of error that rejects a request.
type Rejection string

// The kinds of errors.
const (
	Denied        Rejection = "no_error"
	CallFailed    Rejection = "calling_webhook_error"
	InternalError Rejection = "apiserver_internal_error"
)

// maxCode is the largest status code that has its own label value.
const maxCode = 600

// ObserveWebhook observes the call of a webhook.
func (m *Metrics) ObserveWebhook(c WebhookCall) {
	phase := "validating" // as in kube-apiserver
	if c.Mutating {
		phase = typeAdmit
	}
	operation, code := string(c.Operation), strconv.Itoa(min(c.Code, maxCode))
	rejected := strconv.FormatBool(c.Rejection != "")
	m.requests.WithLabelValues(c.Name, phase, operation, code, rejected).Inc()
	m.webhooks.WithLabelValues(c.Name, phase, operation, rejected).Observe(c.Took.Seconds())
	switch {
	case c.Canceled:
	case c.Rejection != "":
		m.rejections.WithLabelValues(c.Name, phase, operation, string(c.Rejection), code).Inc()
	case c.FailedOpen:
		m.failOpen.WithLabelValues(c.Name, phase).Inc()
	}
}
