package api

import (
	"context"
	"net/http"

	"github.com/miniapi/miniapi/registry"
)

// authorizeRequests refuses requests that the authorizer does not allow with a 403,
// whether the resource exists or not.
func (s *Server) authorizeRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.authorize(r.Context(), accessOf(r)); err != nil {
			s.forbid(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) authorize(ctx context.Context, access registry.Access) error {
	return registry.Authorize(ctx, s.config.Catalog.Authorizer(), access)
}

// forbid sends the error of a request that is not allowed, with the header of kube-apiserver.
func (s *Server) forbid(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.responder.WriteError(w, r, err)
}
