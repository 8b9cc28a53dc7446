package filters

import (
	"net/http"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// WithAuthorization rejects requests that the authorizer does not allow, whether the resource
// exists or not.
func WithAuthorization(authorizer registry.Authorizer, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := registry.Authorize(r.Context(), authorizer, request.AuthorizationAttributes(r)); err != nil {
				writeForbidden(w, r, responder, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// writeForbidden sends the error of a request that is not allowed, with the header of
// kube-apiserver.
func writeForbidden(w http.ResponseWriter, r *http.Request, responder *encoding.Responder, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	responder.WriteError(w, r, err)
}
