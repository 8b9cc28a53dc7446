// Package collectors combines Prometheus metrics.
package collectors

import "github.com/prometheus/client_golang/prometheus"

// All is a prometheus.Collector of the metrics of several ones.
type All []prometheus.Collector

// Describe implements prometheus.Collector.
func (a All) Describe(out chan<- *prometheus.Desc) {
	for _, collector := range a {
		collector.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (a All) Collect(out chan<- prometheus.Metric) {
	for _, collector := range a {
		collector.Collect(out)
	}
}
