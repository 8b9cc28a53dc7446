package authn

import (
	"context"
	"errors"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/registry"
)

// errInvalidToken is what a client learns of a token that nobody knows.
var errInvalidToken = errors.New("invalid bearer token")

// TokenFunc finds out whose a token is, and for which of the wanted audiences
// it is meant. Nil without an error: the token is none of those it knows.
type TokenFunc func(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error)

// Bearer knows users by the token in the Authorization header, which must be
// meant for one of the audiences.
func Bearer(identify TokenFunc, audiences ...string) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
		token, _, _ = strings.Cut(token, " ")
		if !strings.EqualFold(scheme, "bearer") || token == "" {
			return nil, false, nil
		}
		identity, err := identify(r.Context(), token, audiences)
		if err != nil {
			return nil, false, err
		}
		return identity.User, true, nil
	}
}

// AnyOf asks in order until one knows the token. If none does that is an
// error, made of what went wrong on the way.
func AnyOf(kinds ...TokenFunc) TokenFunc {
	return func(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
		faults := []error{errInvalidToken}
		for _, identify := range kinds {
			identity, err := identify(ctx, token, audiences)
			if identity != nil {
				identity.User = withAuthenticatedGroup(identity.User)
				return identity, nil
			}
			if err != nil {
				faults = append(faults, err)
			}
		}
		return nil, utilerrors.NewAggregate(faults)
	}
}
