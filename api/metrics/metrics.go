package metrics

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/registry"
)

// Metrics are the metrics of one server. Safe for concurrent use.
type Metrics struct {
	catalog    *registry.Catalog
	collectors []prometheus.Collector

	requests      *prometheus.CounterVec
	durations     *prometheus.HistogramVec
	sliDurations  *prometheus.HistogramVec
	responseSizes *prometheus.HistogramVec
	terminations  *prometheus.CounterVec
	paths         pathLabels
	inFlight      *prometheus.GaugeVec
	longRunning   *prometheus.GaugeVec
	watchEvents   *prometheus.CounterVec
	watchSizes    *prometheus.HistogramVec
	access        access
	impersonation *Impersonation
	health        healthChecks
}

// The labels of the metrics of requests. Each list is a prefix of the next.
var (
	resourceLabels = []string{"group", "version", "resource"}
	requestLabels  = []string{"group", "version", "resource", "subresource", "scope", "component", "verb"}
	dryRunLabels   = []string{"group", "version", "resource", "subresource", "scope", "component", "verb", "dry_run"}
	codeLabels     = []string{"group", "version", "resource", "subresource", "scope", "component", "verb", "dry_run", "code"}
)

// terminationLabels are the labels of requests that the server ends.
var terminationLabels = append(slices.Clip(requestLabels), "code")

var (
	durationBuckets = []float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}
	sizeBuckets     = prometheus.ExponentialBuckets(1000, 10, 7)
	eventBuckets    = prometheus.ExponentialBuckets(1024, 2, 8)
)

// Config configures Metrics. Catalog and Memory are required.
type Config struct {
	// Catalog has the resources whose names become label values.
	Catalog *registry.Catalog
	// Memory is the budget of the requests.
	Memory *memory.Budget
	// Version is the version of the API.
	Version version.Info
	// More collects further metrics.
	More []prometheus.Collector
}

// New returns the metrics of a server.
func New(config Config) *Metrics {
	m := &Metrics{catalog: config.Catalog, health: newHealthChecks()}
	m.requests = m.counter("apiserver_request_total",
		"Requests by verb, dry run, resource, scope, component and code of the response.", codeLabels)
	m.durations = m.histogram("apiserver_request_duration_seconds",
		"Duration of responses in seconds, by verb, dry run, resource, scope and component.", dryRunLabels, durationBuckets)
	m.sliDurations = m.histogram("apiserver_request_sli_duration_seconds",
		"The same as apiserver_request_duration_seconds, without dry_run.", requestLabels, durationBuckets)
	m.responseSizes = m.histogram("apiserver_response_sizes",
		"Bytes of a response, by verb, resource, scope and component.", requestLabels, sizeBuckets)
	m.terminations = m.counter("apiserver_request_terminations_total",
		"Requests that the server ended in self-defense, by verb, resource, scope, component and code.", terminationLabels)
	m.inFlight = m.gauge("apiserver_current_inflight_requests",
		"Requests in flight, without long-running requests, by kind of request.", []string{"request_kind"})
	m.longRunning = m.gauge("apiserver_longrunning_requests",
		"Long-running requests in flight, such as watches, by verb, resource, scope and component.", requestLabels)
	m.watchEvents = m.counter("apiserver_watch_events_total", "Events sent to watches, by resource.", resourceLabels)
	m.watchSizes = m.histogram("apiserver_watch_events_sizes",
		"Bytes of the events sent to watches, by resource.", resourceLabels, eventBuckets)
	m.addAccess()
	m.impersonation = register(m, NewImpersonation())
	m.collectors = append(m.collectors, objectCounter{m.catalog}, memoryBudget{config.Memory}, buildInfo(config.Version))
	m.collectors = append(m.collectors, config.More...)
	return m
}

// Impersonation returns the metrics of constrained impersonation.
func (m *Metrics) Impersonation() *Impersonation { return m.impersonation }

// buildInfo returns the metric that names the version of the API.
func buildInfo(v version.Info) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kubernetes_build_info", Help: "1, with the version of the Kubernetes API in its labels.",
		ConstLabels: prometheus.Labels{
			"major": v.Major, "minor": v.Minor, "git_version": v.GitVersion, "git_commit": v.GitCommit, "git_tree_state": v.GitTreeState,
			"build_date": v.BuildDate, "go_version": v.GoVersion, "compiler": v.Compiler, "platform": v.Platform,
		},
	})
	g.Set(1)
	return g
}

func (m *Metrics) counter(name, help string, labels []string) *prometheus.CounterVec {
	return register(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

func (m *Metrics) gauge(name, help string, labels []string) *prometheus.GaugeVec {
	return register(m, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels))
}

func (m *Metrics) histogram(name, help string, labels []string, buckets []float64) *prometheus.HistogramVec {
	return register(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels))
}

func register[C prometheus.Collector](m *Metrics, c C) C {
	m.collectors = append(m.collectors, c)
	return c
}

// WatchEvents returns a function that counts an event of bytes, sent to a watch of the resource
// of t.
func (m *Metrics) WatchEvents(t request.Target) func(bytes int) {
	events := m.watchEvents.WithLabelValues(t.Group, t.Version, t.Resource)
	sizes := m.watchSizes.WithLabelValues(t.Group, t.Version, t.Resource)
	return func(bytes int) {
		events.Inc()
		sizes.Observe(float64(bytes))
	}
}

// Handler serves the metrics of the server, of its process, and of an etcd embedded in the
// process. It creates the Prometheus registry on the first request, because most servers of a
// test suite never need it.
func (m *Metrics) Handler() http.Handler {
	serve := sync.OnceValue(func() http.Handler {
		registry := prometheus.NewRegistry()
		registry.MustRegister(m.collectors...)
		registry.MustRegister(
			collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		)
		gatherers := prometheus.Gatherers{registry, prometheus.GathererFunc(gatherEtcd)}
		return promhttp.HandlerFor(gatherers, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve().ServeHTTP(w, r) })
}

// gatherEtcd returns etcd's metrics from the process-wide registry, which is where etcd registers
// them. It leaves out all other metrics of the process.
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
