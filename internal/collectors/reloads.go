package collectors

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Reloads has the metrics of the reloads of a configuration file, under the names of
// kube-apiserver, without the label for the ID of the server. It is a prometheus.Collector and safe
// for concurrent use. The methods that record do nothing on a nil Reloads, which stands for a file
// without metrics.
type Reloads struct {
	counts All
	total  *prometheus.CounterVec
	last   *prometheus.GaugeVec
	info   *prometheus.Desc
	hash   atomic.Pointer[string] // of the content in effect; nil: none
}

// NewReloads returns the metrics of a configuration: "authentication", "authorization" or
// "encryption".
func NewReloads(configuration string) *Reloads {
	prefix, of := "apiserver_"+configuration+"_config_controller_", " of the "+configuration+" configuration"
	r := &Reloads{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "automatic_reloads_total", Help: "Reloads" + of + ", by result.",
		}, []string{"status"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "automatic_reload_last_timestamp_seconds", Help: "Time of the last reload" + of + ", by result.",
		}, []string{"status"}),
		info: prometheus.NewDesc(prefix+"last_config_info", "1, with the hash"+of+" in effect.", []string{"hash"}, nil),
	}
	r.counts = All{r.total, r.last}
	return r
}

// SetHash records the hash of the content in effect, sha256: and hexadecimal digits.
func (r *Reloads) SetHash(hash string) {
	if r != nil {
		r.hash.Store(&hash)
	}
}

// Succeeded records a reload of a content with a hash.
func (r *Reloads) Succeeded(hash string) {
	r.SetHash(hash)
	r.record("success")
}

// Failed records that a content was not loaded.
func (r *Reloads) Failed() { r.record("failure") }

func (r *Reloads) record(status string) {
	if r != nil {
		r.total.WithLabelValues(status).Inc()
		r.last.WithLabelValues(status).SetToCurrentTime()
	}
}

// Describe implements prometheus.Collector.
func (r *Reloads) Describe(out chan<- *prometheus.Desc) {
	r.counts.Describe(out)
	out <- r.info
}

// Collect implements prometheus.Collector.
func (r *Reloads) Collect(out chan<- prometheus.Metric) {
	r.counts.Collect(out)
	if hash := r.hash.Load(); hash != nil {
		out <- prometheus.MustNewConstMetric(r.info, prometheus.GaugeValue, 1, *hash)
	}
}
