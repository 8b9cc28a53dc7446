package filters

import (
	"log/slog"
	"net/http"
	"time"
)

// WithAccessLog logs a line per request at level debug.
func WithAccessLog(logger *slog.Logger) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !logger.Enabled(r.Context(), slog.LevelDebug) {
				next.ServeHTTP(w, r)
				return
			}
			recorder, started := recorderOf(w), time.Now()
			defer func() {
				logger.DebugContext(r.Context(), "request", "method", r.Method, "uri", r.URL.RequestURI(),
					"status", recorder.Status, "bytes", recorder.Bytes, "took", time.Since(started), "client", r.UserAgent())
			}()
			next.ServeHTTP(recorder, r)
		})
	}
}
