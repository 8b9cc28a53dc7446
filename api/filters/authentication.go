package filters

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// Authenticator returns the user who sends a request. It returns nil and no error for a request
// without credentials that is not accepted, and an error if its credentials are invalid.
// Implementations are safe for concurrent use.
type Authenticator func(r *http.Request) (*authenticationv1.UserInfo, error)

var errNoCredentials = errors.New("the request has no credentials")

// WithAuthentication stores the user in the context of the request, where registry.UserFrom finds
// it. Requests that authenticate does not accept are served by failed; the reason is logged, and
// the client does not receive it.
//
// A connection of HTTP/2 ends after a request that is not authenticated or anonymous, because such
// connections can be abused, see CVE-2023-44487. It does not end after a request with a body: curl
// loses the response if the connection ends while the body is not read.
func WithAuthentication(authenticate Authenticator, logger *slog.Logger, failed http.Handler) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, err := authenticate(r)
			if user == nil && err == nil {
				err = errNoCredentials
			}
			if r.ProtoMajor == 2 && r.ContentLength == 0 && isUnauthenticated(user) {
				w.Header().Set("Connection", "close")
			}
			if err != nil {
				logger.InfoContext(r.Context(), "request is not authenticated", "path", r.URL.Path, "error", err)
				failed.ServeHTTP(w, r)
				return
			}
			request.RecordFrom(r.Context()).SetUser(user.Username)
			next.ServeHTTP(w, r.WithContext(registry.WithUser(r.Context(), user)))
		})
	}
}

// isUnauthenticated reports whether a user, nil for a failed authentication, is anonymous.
func isUnauthenticated(u *authenticationv1.UserInfo) bool {
	return u == nil || u.Username == user.Anonymous || slices.Contains(u.Groups, user.AllUnauthenticated)
}

// Unauthorized returns the handler of requests that are not authenticated: a 401.
func Unauthorized(responder *encoding.Responder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		responder.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
	})
}
