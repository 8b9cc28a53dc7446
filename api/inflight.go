package api

import (
	"net/http"
	"slices"
	"strings"

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
		verb, subresource := inFlightVerb(r)
		slots := changing
		if slices.Contains([]string{"get", "list", "watch"}, verb) {
			slots = reading
		}
		if slots == nil || runsLong(verb, subresource) {
			next.ServeHTTP(w, r)
			return
		}
		if slots == changing && s.life.left.Load() >= int64(cap(changing)) && !isExempt(r) {
			tooManyRequests(w)
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
			tooManyRequests(w)
		}
	})
}

func isExempt(r *http.Request) bool {
	user := registry.UserFrom(r.Context())
	return r.TLS != nil && user != nil && slices.Contains(user.Groups, "system:masters")
}

// tooManyRequests answers in plain text, as kube-apiserver does: clients make a
// Status of it.
func tooManyRequests(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
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
