package api

import (
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// metrics counts what one server does, under the names operators know from
// kube-apiserver. Safe for concurrent use.
type metrics struct {
	requests      *prometheus.CounterVec
	durations     *prometheus.HistogramVec
	responseSizes *prometheus.HistogramVec
	inFlight      *prometheus.GaugeVec
	longRunning   *prometheus.GaugeVec
	watchEvents   *prometheus.CounterVec
	watchSizes    *prometheus.HistogramVec
}

// The labels that a request is told apart by. Every metric of requests has a
// prefix of them or all.
var (
	resourceLabels = []string{"group", "version", "resource"}
	requestLabels  = []string{"group", "version", "resource", "subresource", "scope", "component", "verb"}
	dryRunLabels   = []string{"group", "version", "resource", "subresource", "scope", "component", "verb", "dry_run"}
	codeLabels     = []string{"group", "version", "resource", "subresource", "scope", "component", "verb", "dry_run", "code"}
)

var (
	durationBuckets = []float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}
	sizeBuckets     = prometheus.ExponentialBuckets(1000, 10, 7)
	eventBuckets    = prometheus.ExponentialBuckets(1024, 2, 8)
)

func newMetrics() *metrics {
	return &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total",
			Help: "Requests by verb, dry run, resource, scope, component and code of the response.",
		}, codeLabels),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_request_duration_seconds",
			Help:    "Seconds a response took, by verb, dry run, resource, scope and component.",
			Buckets: durationBuckets,
		}, dryRunLabels),
		responseSizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_response_sizes",
			Help:    "Bytes of a response, by verb, resource, scope and component.",
			Buckets: sizeBuckets,
		}, requestLabels),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_current_inflight_requests",
			Help: "Requests being served now, long-running ones not counted, by kind of request.",
		}, []string{"request_kind"}),
		longRunning: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests",
			Help: "Watches and connections being served now, by verb, resource, scope and component.",
		}, requestLabels),
		watchEvents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_watch_events_total",
			Help: "Events sent to watches, by resource.",
		}, resourceLabels),
		watchSizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_watch_events_sizes",
			Help:    "Bytes of the events sent to watches, by resource.",
			Buckets: eventBuckets,
		}, resourceLabels),
	}
}

// countEvents returns what counts the events sent to one watch of a resource.
func (m *metrics) countEvents(t target) func(bytes int) {
	events := m.watchEvents.WithLabelValues(t.Group, t.Version, t.Resource)
	sizes := m.watchSizes.WithLabelValues(t.Group, t.Version, t.Resource)
	return func(bytes int) {
		events.Inc()
		sizes.Observe(float64(bytes))
	}
}

// handler serves the metrics of this server, of its process, and of etcd where
// that runs in the process, with those of more. The registry is made on the
// first request.
func (m *metrics) handler(more ...prometheus.Collector) http.Handler {
	serve := sync.OnceValue(func() http.Handler {
		registry := prometheus.NewRegistry()
		registry.MustRegister(more...)
		registry.MustRegister(
			m.requests, m.durations, m.responseSizes, m.inFlight, m.longRunning, m.watchEvents, m.watchSizes,
			collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		)
		gatherers := prometheus.Gatherers{registry, prometheus.GathererFunc(gatherEtcd)}
		return promhttp.HandlerFor(gatherers, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve().ServeHTTP(w, r) })
}

// gatherEtcd picks etcd's metrics out of the process-wide registry, which etcd
// writes to without asking. What else the process keeps there is its own.
func gatherEtcd() ([]*dto.MetricFamily, error) {
	families, err := prometheus.DefaultGatherer.Gather()
	var found []*dto.MetricFamily
	for _, family := range families {
		if name := family.GetName(); strings.HasPrefix(name, "etcd_") || strings.HasPrefix(name, "grpc_") {
			found = append(found, family)
		}
	}
	return found, err
}
