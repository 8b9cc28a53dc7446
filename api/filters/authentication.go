package filters

import (
	"log/slog"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// Authenticator returns the user who sends a request, or an error if the request cannot be
// authenticated. Implementations are safe for concurrent use.
type Authenticator func(r *http.Request) (*authenticationv1.UserInfo, error)

// WithAuthentication stores the user in the context of the request, where registry.UserFrom finds
// it. It rejects requests that authenticate does not accept and logs the reason, which the client
// does not receive.
func WithAuthentication(authenticate Authenticator, logger *slog.Logger, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, err := authenticate(r)
			if err != nil {
				logger.InfoContext(r.Context(), "request is not authenticated", "path", r.URL.Path, "error", err)
				responder.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
				return
			}
			request.RecordFrom(r.Context()).SetUser(user.Username)
			next.ServeHTTP(w, r.WithContext(registry.WithUser(r.Context(), user)))
		})
	}
}
