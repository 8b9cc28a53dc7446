package api

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// identifyUser finds out who makes the request.
func (s *Server) identifyUser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, err := s.config.User(r)
		if err != nil {
			s.config.Logger.InfoContext(r.Context(), "request of an unknown user", "path", r.URL.Path, "error", err)
			s.responder.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
			return
		}
		next.ServeHTTP(w, r.WithContext(registry.WithUser(r.Context(), user)))
	})
}
