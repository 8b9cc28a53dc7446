package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// healthChecks are the metrics of health checks. As in kube-apiserver they have a path of their
// own, which can be scraped more often than the other metrics.
type healthChecks struct {
	last    *prometheus.GaugeVec
	results *prometheus.CounterVec
}

func newHealthChecks() healthChecks {
	return healthChecks{
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubernetes_healthcheck", Help: "1 if the latest run of a health check has passed, otherwise 0.",
		}, []string{"name", "type"}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubernetes_healthchecks_total", Help: "Results of health checks: success or error.",
		}, []string{"name", "type", "status"}),
	}
}

// ObserveHealthCheck counts the result of a check of healthz, livez or readyz. err is nil if the
// check has passed.
func (m *Metrics) ObserveHealthCheck(check, endpoint string, err error) {
	passed, status := 1.0, "success"
	if err != nil {
		passed, status = 0, "error"
	}
	m.health.last.WithLabelValues(check, endpoint).Set(passed)
	m.health.results.WithLabelValues(check, endpoint, status).Inc()
}

// HealthHandler serves the metrics of health checks.
func (m *Metrics) HealthHandler() http.Handler {
	serve := sync.OnceValue(func() http.Handler {
		registry := prometheus.NewRegistry()
		registry.MustRegister(m.health.last, m.health.results)
		return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve().ServeHTTP(w, r) })
}
