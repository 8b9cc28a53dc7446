package api

import (
	"net/http"

	"github.com/google/uuid"
)

// auditIDHeader names a request in both directions.
const auditIDHeader = "Audit-Id"

// setHeaders puts on every answer what kube-apiserver puts there. A client that
// names its request gets that name back.
func setHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(auditIDHeader)
		if id == "" {
			id = uuid.NewString()
		}
		w.Header().Set(auditIDHeader, id)
		w.Header().Set("Cache-Control", "no-cache, private")
		next.ServeHTTP(w, r)
	})
}
