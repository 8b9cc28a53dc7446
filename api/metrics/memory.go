package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/internal/memory"
)

var (
	memoryLimitDesc    = prometheus.NewDesc("miniapi_memory_budget_bytes", "Bytes that requests can reserve together.", nil, nil)
	memoryReservedDesc = prometheus.NewDesc("miniapi_memory_reserved_bytes", "Bytes that requests have reserved.", nil, nil)
	memoryRejectedDesc = prometheus.NewDesc("miniapi_memory_rejections_total", "Reservations that exceeded the budget.", nil, nil)
)

// memoryBudget collects the state of a budget.
type memoryBudget struct{ *memory.Budget }

// Describe implements prometheus.Collector.
func (b memoryBudget) Describe(out chan<- *prometheus.Desc) {
	out <- memoryLimitDesc
	out <- memoryReservedDesc
	out <- memoryRejectedDesc
}

// Collect implements prometheus.Collector.
func (b memoryBudget) Collect(out chan<- prometheus.Metric) {
	stats := b.Stats()
	out <- prometheus.MustNewConstMetric(memoryLimitDesc, prometheus.GaugeValue, float64(stats.Limit))
	out <- prometheus.MustNewConstMetric(memoryReservedDesc, prometheus.GaugeValue, float64(stats.Reserved))
	out <- prometheus.MustNewConstMetric(memoryRejectedDesc, prometheus.CounterValue, float64(stats.Rejected))
}
