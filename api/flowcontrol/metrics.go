package flowcontrol

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/internal/collectors"
)

// concurrencyLimit is the reason of rejections: the limit of requests in flight is reached.
const concurrencyLimit = "concurrency-limit"

// durationBuckets are the buckets of kube-apiserver.
var durationBuckets = []float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}

// metrics has the metrics of classified requests, under the names of kube-apiserver.
//
// Invariant: the metrics have series for the present FlowSchemas only, so that clients that create
// and delete FlowSchemas do not fill the memory.
type metrics struct {
	collectors.All
	dispatched, rejected *prometheus.CounterVec
	executing            *prometheus.GaugeVec
	durations            *prometheus.HistogramVec

	bound map[labels]*series // guarded by the mutex of the Classifier
}

// labels are the names of a priority level and a FlowSchema.
type labels struct{ level, schema string }

// series has the metrics of one FlowSchema and its priority level. All labels are bound in advance,
// because every request is observed.
type series struct {
	dispatched, rejected   prometheus.Counter
	executing              prometheus.Gauge
	regularTime, watchTime prometheus.Observer
}

func newMetrics() *metrics {
	const prefix = "apiserver_flowcontrol_"
	names := func(more ...string) []string { return append([]string{"priority_level", "flow_schema"}, more...) }
	m := &metrics{
		dispatched: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "dispatched_requests_total",
			Help: "Requests that were executed, by priority level and FlowSchema.",
		}, names()),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "rejected_requests_total",
			Help: "Requests that a limit of requests in flight rejected, by priority level and FlowSchema.",
		}, names("reason")),
		executing: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "current_executing_requests",
			Help: "Requests in execution, watches until they have sent their initial events, by priority level and FlowSchema.",
		}, names()),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    prefix + "request_execution_seconds",
			Help:    "Duration of executions in seconds, by priority level, FlowSchema and type.",
			Buckets: durationBuckets,
		}, names("type")),
	}
	m.All = collectors.All{m.dispatched, m.rejected, m.executing, m.durations}
	return m
}

// series returns the metrics of a FlowSchema. It creates them if they are not bound yet.
func (m *metrics) series(of labels) *series {
	if bound, ok := m.bound[of]; ok {
		return bound
	}
	return &series{
		dispatched:  m.dispatched.WithLabelValues(of.level, of.schema),
		rejected:    m.rejected.WithLabelValues(of.level, of.schema, concurrencyLimit),
		executing:   m.executing.WithLabelValues(of.level, of.schema),
		regularTime: m.durations.WithLabelValues(of.level, of.schema, "regular"),
		watchTime:   m.durations.WithLabelValues(of.level, of.schema, "watch"),
	}
}

// retain keeps the given series and deletes all others. Requests in flight may still observe
// deleted series.
func (m *metrics) retain(bound map[labels]*series) {
	for of := range m.bound {
		if _, ok := bound[of]; ok {
			continue
		}
		m.dispatched.DeleteLabelValues(of.level, of.schema)
		m.rejected.DeleteLabelValues(of.level, of.schema, concurrencyLimit)
		m.executing.DeleteLabelValues(of.level, of.schema)
		m.durations.DeleteLabelValues(of.level, of.schema, "regular")
		m.durations.DeleteLabelValues(of.level, of.schema, "watch")
	}
	m.bound = bound
}

// Collector returns the metrics of the classified requests.
func (c *Classifier) Collector() prometheus.Collector { return c.metrics }

// Reject observes that a request was rejected.
func (c *Classification) Reject() {
	if c != nil {
		c.series.rejected.Inc()
	}
}

// Begin observes the start of the execution of a request. The caller must call End.
func (c *Classification) Begin(verb string) Execution {
	if c == nil {
		return Execution{}
	}
	c.series.dispatched.Inc()
	c.series.executing.Inc()
	e := Execution{executing: c.series.executing, duration: c.series.regularTime, started: time.Now()}
	if verb == "watch" {
		e.duration = c.series.watchTime
	}
	return e
}

// Execution observes the execution of a request. The zero value observes nothing.
type Execution struct {
	executing prometheus.Gauge // nil: not classified
	duration  prometheus.Observer
	started   time.Time
}

// End observes the end of the execution, or of the initial events of a watch.
func (e Execution) End() {
	if e.executing != nil {
		e.executing.Dec()
		e.duration.Observe(time.Since(e.started).Seconds())
	}
}
