package filters

import (
	"net/http"
	"slices"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// MaxInFlight holds the limits of requests in flight. 0: no limit.
type MaxInFlight struct {
	// ReadOnly limits get, list and watch.
	ReadOnly int
	// Mutating limits all other requests. Work that continues after its request is answered
	// counts towards it.
	Mutating int
}

// WithMaxInFlightLimit rejects requests beyond the limits. Long-running requests do not count.
// Authenticated members of system:masters are exempt. Requests without TLS are not exempt, because
// without authentication every user is a member.
func WithMaxInFlightLimit(limits MaxInFlight, tracker *lifecycle.Tracker) Filter {
	readOnly, mutating := newSemaphore(limits.ReadOnly), newSemaphore(limits.Mutating)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info := request.InfoFrom(r)
			semaphore := mutating
			if slices.Contains([]string{"get", "list", "watch"}, info.Verb) {
				semaphore = readOnly
			}
			if semaphore == nil || info.IsLongRunning() {
				next.ServeHTTP(w, r)
				return
			}
			if semaphore == mutating && tracker.Detached() >= int64(cap(mutating)) && !isExempt(r) {
				encoding.WriteTooManyRequests(w)
				return
			}
			select {
			case semaphore <- struct{}{}:
				defer func() { <-semaphore }()
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
}

func isExempt(r *http.Request) bool {
	user := registry.UserFrom(r.Context())
	return r.TLS != nil && user != nil && slices.Contains(user.Groups, "system:masters")
}

// newSemaphore returns nil if limit is 0.
func newSemaphore(limit int) chan struct{} {
	if limit <= 0 {
		return nil
	}
	return make(chan struct{}, limit)
}
