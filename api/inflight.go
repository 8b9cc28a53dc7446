package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/miniapi/miniapi/registry"
)

// limitInFlight refuses requests beyond what may be worked on at a time, those
// that read and those that change something each by themselves. What runs long
// by nature is not counted, and system:masters always get through.
func (s *Server) limitInFlight(next http.Handler) http.Handler {
	reading := newSlots(s.config.MaxInFlight)
	changing := newSlots(s.config.MaxMutatingInFlight)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verb, subresource := inFlightVerb(r)
		slots := changing
		if slices.Contains([]string{"get", "list", "watch"}, verb) {
			slots = reading
		}
		if slots == nil || runsLong(verb, subresource) {
			next.ServeHTTP(w, r)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			if user := registry.UserFrom(r.Context()); user != nil && slices.Contains(user.Groups, "system:masters") {
				next.ServeHTTP(w, r)
				return
			}
			// Plain text, as kube-apiserver answers: clients make a Status of it.
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
		}
	})
}

// newSlots returns nil where there is no limit.
func newSlots(limit int) chan struct{} {
	if limit <= 0 {
		return nil
	}
	return make(chan struct{}, limit)
}

func inFlightVerb(r *http.Request) (verb, subresource string) {
	if t, ok := parseTarget(r.URL.Path); ok {
		return accessVerb(r, t), t.Subresource
	}
	return strings.ToLower(r.Method), ""
}

// runsLong: a request of this kind may be open for hours.
func runsLong(verb, subresource string) bool {
	return verb == "watch" || slices.Contains([]string{"attach", "exec", "proxy", "log", "portforward"}, subresource)
}
