package filters

import (
	"net/http"

	"github.com/google/uuid"
)

// AuditIDHeader names a request. Clients may set it, and the response carries it.
const AuditIDHeader = "Audit-Id"

// WithAuditID copies the header Audit-ID of the request to the response, or sets a new ID.
func WithAuditID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(AuditIDHeader)
		if id == "" {
			id = uuid.NewString()
		}
		w.Header().Set(AuditIDHeader, id)
		next.ServeHTTP(w, r)
	})
}
