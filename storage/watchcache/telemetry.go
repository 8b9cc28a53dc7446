package watchcache

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/internal/collectors"
)

// telemetry holds the metrics of a cache. kube-apiserver has a cache for each resource, so its
// metrics have other names and labels.
type telemetry struct {
	collectors.All
	initializations prometheus.Counter
	losses          prometheus.Counter
	events          prometheus.Counter
	waits           prometheus.Histogram
	byCache         prometheus.Counter
	byStorage       prometheus.Counter
	fallenBehind    prometheus.Counter
}

func newTelemetry() *telemetry {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	reads := func(by string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Name:        "miniapi_watch_cache_reads_total",
			Help:        "Reads by the component that answered: cache or storage.",
			ConstLabels: prometheus.Labels{"by": by},
		})
	}
	t := &telemetry{
		byCache:         reads("cache"),
		byStorage:       reads("storage"),
		initializations: counter("miniapi_watch_cache_initializations_total", "Times the cache has loaded the state."),
		losses:          counter("miniapi_watch_cache_log_lost_total", "Times the log that feeds the cache was lost."),
		events:          counter("miniapi_watch_cache_events_received_total", "Events received from the log."),
		fallenBehind:    counter("miniapi_watch_cache_watchers_behind_total", "Watches that fell behind the window and continued as watches of the storage."),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "miniapi_watch_cache_read_wait_seconds",
			Help:    "Seconds a read waited until the cache was fresh enough.",
			Buckets: []float64{0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.025, 0.05, 0.1, 0.5, 1, 3},
		}),
	}
	t.All = collectors.All{t.initializations, t.losses, t.events, t.waits, t.byCache, t.byStorage, t.fallenBehind}
	return t
}

// answered counts a read as answered by the storage if err is errNotCached, else by the cache.
func (t *telemetry) answered(err error) {
	if err == errNotCached {
		t.byStorage.Inc()
	} else {
		t.byCache.Inc()
	}
}

// waited records the duration of a wait that began at began.
func (t *telemetry) waited(began time.Time) { t.waits.Observe(time.Since(began).Seconds()) }

var (
	revisionDesc = prometheus.NewDesc("miniapi_watch_cache_resource_version", "The revision that the cache has applied.", nil, nil)
	entriesDesc  = prometheus.NewDesc("miniapi_watch_cache_entries", "Objects in the cache.", nil, nil)
	memoDesc     = prometheus.NewDesc("miniapi_watch_cache_memo_bytes", "Bytes of cached objects and encoded bodies.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *Cache) Describe(out chan<- *prometheus.Desc) {
	c.telemetry.Describe(out)
	out <- revisionDesc
	out <- entriesDesc
	out <- memoDesc
}

// Collect implements prometheus.Collector.
func (c *Cache) Collect(out chan<- prometheus.Metric) {
	c.telemetry.Collect(out)
	out <- prometheus.MustNewConstMetric(revisionDesc, prometheus.GaugeValue, float64(c.applied.Load()))
	out <- prometheus.MustNewConstMetric(entriesDesc, prometheus.GaugeValue, float64(c.entries()))
	out <- prometheus.MustNewConstMetric(memoDesc, prometheus.GaugeValue, float64(c.cfg.Memo.Stats().Bytes))
}

func (c *Cache) entries() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := c.unclaimed[0].tree.entries.Len()
	for _, readers := range c.resources {
		n += readers[0].tree.entries.Len()
	}
	return n
}
