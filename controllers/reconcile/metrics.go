package reconcile

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/miniapi/miniapi/internal/collectors"
)

// Metrics are the metrics of the queues of one server, under the names of kube-controller-manager.
// It is a prometheus.Collector and safe for concurrent use.
type Metrics struct {
	collectors.All
	depth            *prometheus.GaugeVec
	adds, retries    *prometheus.CounterVec
	waits, durations *prometheus.HistogramVec
}

// NewMetrics returns metrics without values.
func NewMetrics() *Metrics {
	name := []string{"name"}
	counter := func(metric, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: metric, Help: help}, name)
	}
	histogram := func(metric, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metric, Help: help, Buckets: prometheus.ExponentialBuckets(10e-9, 10, 10),
		}, name)
	}
	m := &Metrics{
		depth:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_depth", Help: "Keys that wait in a queue, by queue."}, name),
		adds:      counter("workqueue_adds_total", "Keys added to a queue, by queue."),
		retries:   counter("workqueue_retries_total", "Keys added again after an error or a delay, by queue."),
		waits:     histogram("workqueue_queue_duration_seconds", "Time in seconds that keys waited in a queue, by queue."),
		durations: histogram("workqueue_work_duration_seconds", "Duration in seconds of the reconciliation of a key, by queue."),
	}
	m.All = collectors.All{m.depth, m.adds, m.retries, m.waits, m.durations}
	return m
}

// newKeys returns the keys of a queue, with metrics unless m is nil.
func (m *Metrics) newKeys(queue string) keys {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](minRetryDelay, maxRetryDelay)
	if m == nil {
		return workqueue.NewTypedRateLimitingQueue(limiter)
	}
	provider := provider{m}
	waiting := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{
		Name: queue, MetricsProvider: provider, Clock: idleClock{},
	})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
		Name: queue, MetricsProvider: provider, Queue: waiting,
	})
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{DelayingQueue: delaying})
}

// provider implements workqueue.MetricsProvider.
type provider struct{ m *Metrics }

func (p provider) NewDepthMetric(queue string) workqueue.GaugeMetric {
	return p.m.depth.WithLabelValues(queue)
}

func (p provider) NewAddsMetric(queue string) workqueue.CounterMetric {
	return p.m.adds.WithLabelValues(queue)
}

func (p provider) NewLatencyMetric(queue string) workqueue.HistogramMetric {
	return p.m.waits.WithLabelValues(queue)
}

func (p provider) NewWorkDurationMetric(queue string) workqueue.HistogramMetric {
	return p.m.durations.WithLabelValues(queue)
}

func (p provider) NewRetriesMetric(queue string) workqueue.CounterMetric {
	return p.m.retries.WithLabelValues(queue)
}

// The metrics of unfinished work would need a timer for each queue of each server.
func (provider) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return discarded{}
}

func (provider) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return discarded{}
}

type discarded struct{}

func (discarded) Set(float64) {}

// idleClock is the real clock with tickers that never tick. A queue has a ticker for its discarded
// metrics only.
type idleClock struct{ clock.RealClock }

// NewTicker implements clock.WithTicker.
func (idleClock) NewTicker(time.Duration) clock.Ticker { return idleTicker{} }

type idleTicker struct{}

func (idleTicker) C() <-chan time.Time { return nil }
func (idleTicker) Stop()               {}
