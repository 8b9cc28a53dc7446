package filters

import (
	"net/http"
	"slices"

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

// limiter limits the requests in flight. Long-running requests do not count. Authenticated members
// of system:masters are exempt. Requests without TLS are not exempt, because without authentication
// every user is a member.
type limiter struct {
	readOnly, mutating slots
	tracker            *lifecycle.Tracker
}

// slots holds a value for each request in flight. Nil: no limit.
type slots chan struct{}

func newLimiter(limits MaxInFlight, tracker *lifecycle.Tracker) *limiter {
	return &limiter{readOnly: newSlots(limits.ReadOnly), mutating: newSlots(limits.Mutating), tracker: tracker}
}

// acquire returns the slots that the caller must release when the request ends, and false if the
// request must be rejected.
func (l *limiter) acquire(r *http.Request, info *request.Info) (slots, bool) {
	limited := l.mutating
	if slices.Contains([]string{"get", "list", "watch"}, info.Verb) {
		limited = l.readOnly
	}
	if limited == nil || info.IsLongRunning() {
		return nil, true
	}
	if limited == l.mutating && l.tracker.Detached() >= int64(cap(limited)) && !isExempt(r) {
		return nil, false
	}
	select {
	case limited <- struct{}{}:
		return limited, true
	default:
		return nil, isExempt(r)
	}
}

// release gives the slot of one request back.
func (s slots) release() {
	if s != nil {
		<-s
	}
}

func isExempt(r *http.Request) bool {
	user := registry.UserFrom(r.Context())
	return r.TLS != nil && user != nil && slices.Contains(user.Groups, "system:masters")
}

// newSlots returns nil if limit is 0.
func newSlots(limit int) slots {
	if limit <= 0 {
		return nil
	}
	return make(slots, limit)
}
