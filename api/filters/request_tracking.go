package filters

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/lifecycle"
)

// WithRequestTracking tracks the open requests. It rejects requests that arrive after the shutdown
// has begun.
func WithRequestTracking(tracker *lifecycle.Tracker, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tracked := tracker.Add(r)
			if tracked == nil {
				// The request had no effect, so Retry-After is safe: behind a load balancer another
				// replica receives the retry.
				w.Header().Set("Connection", "close")
				w.Header().Set("Retry-After", "1")
				responder.WriteError(w, r, apierrors.NewServiceUnavailable("the server is shutting down"))
				return
			}
			defer tracker.Remove(tracked)
			next.ServeHTTP(w, r)
		})
	}
}
