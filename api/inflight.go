package api

import (
	"net/http"
	"slices"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// limitInFlight refuses requests beyond the limits of requests in flight, one for
// requests that read and one for those that change something. Long-running
// requests are not counted. Members of system:masters are exempt if they have
// been authenticated: over plain HTTP everybody is one.
func (s *Server) limitInFlight(next http.Handler) http.Handler {
	reading := newSlots(s.config.MaxInFlight)
	changing := newSlots(s.config.MaxMutatingInFlight)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := infoOf(r)
		slots := changing
		if slices.Contains([]string{"get", "list", "watch"}, info.Verb) {
			slots = reading
		}
		if slots == nil || info.isLongRunning() {
			next.ServeHTTP(w, r)
			return
		}
		if slots == changing && s.life.left.Load() >= int64(cap(changing)) && !isExempt(r) {
			encoding.WriteTooManyRequests(w)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			if isExempt(r) {
				next.ServeHTTP(w, r)
				return
			}
			encoding.WriteTooManyRequests(w)
		}
	})
}

func isExempt(r *http.Request) bool {
	user := registry.UserFrom(r.Context())
	return r.TLS != nil && user != nil && slices.Contains(user.Groups, "system:masters")
}

// newSlots returns nil where there is no limit.
func newSlots(limit int) chan struct{} {
	if limit <= 0 {
		return nil
	}
	return make(chan struct{}, limit)
}

// isLongRunning reports whether a request may be open for hours.
func (i *requestInfo) isLongRunning() bool {
	return i.Verb == "watch" || i.Verb == "proxy" ||
		slices.Contains([]string{"attach", "exec", "proxy", "log", "portforward"}, i.Subresource)
}
