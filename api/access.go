package api

import (
	"log/slog"
	"net/http"
	"time"
)

// logRequests writes a line a request, for who looks at the debug log.
func (s *Server) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.config.Logger.Enabled(r.Context(), slog.LevelDebug) {
			next.ServeHTTP(w, r)
			return
		}
		seen, started := &response{ResponseWriter: w}, time.Now()
		defer func() {
			s.config.Logger.DebugContext(r.Context(), "request", "method", r.Method, "uri", r.URL.RequestURI(),
				"status", seen.status, "bytes", seen.bytes, "took", time.Since(started), "client", r.UserAgent())
		}()
		next.ServeHTTP(seen, r)
	})
}
