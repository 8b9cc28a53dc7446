package filters

import (
	"net/http"

	"github.com/miniapi/miniapi/api/metrics"
)

// WithMetrics observes each request.
func WithMetrics(m *metrics.Metrics) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			observation, recorder := m.Begin(r), recorderOf(w)
			defer func() { observation.End(recorder.Status, recorder.Bytes) }()
			next.ServeHTTP(recorder, r)
		})
	}
}
