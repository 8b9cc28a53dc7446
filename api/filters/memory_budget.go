package filters

import (
	"net/http"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/internal/memory"
)

// requestBytes is the memory that a request or a watch takes besides its body and its response.
const requestBytes = 64 << 10

// WithMemoryBudget gives each request a reservation of memory, and rejects requests while the
// budget is exhausted. Gets of one object, deletions and non-resource paths take little memory and
// are needed to free some, so they are always accepted.
func WithMemoryBudget(budget *memory.Budget, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reservation := budget.Reserve()
			defer reservation.Release()
			if needsMemory(r) {
				if err := reservation.Grow(requestBytes); err != nil {
					responder.WriteError(w, r, err)
					return
				}
			}
			if request.InfoFrom(r).IsLongRunning() {
				reservation.Release() // its memory becomes a part of the live heap
			}
			next.ServeHTTP(w, r.WithContext(memory.WithReservation(r.Context(), reservation)))
		})
	}
}

func needsMemory(r *http.Request) bool {
	switch info := request.InfoFrom(r); info.Verb {
	case "list", "watch", "create", "update", "patch":
		return info.Form == request.ResourcePath
	default:
		return false
	}
}
