package filters

import (
	"net/http"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
)

// WithTimeoutCheck rejects requests with an invalid query parameter timeout, for all paths.
// Requests that may stay open for hours ignore the parameter.
func WithTimeoutCheck(responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" && !request.InfoFrom(r).IsLongRunning() {
				if _, err := request.Timeout(r); err != nil {
					responder.WriteError(w, r, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
