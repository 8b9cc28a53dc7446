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

// errInvalidToken is the error of an unknown token.
var errInvalidToken = errors.New("invalid bearer token")

// TokenFunc returns the user of a token, and which of the given audiences the token is valid for.
// It returns nil and no error if the token is not of its kind.
type TokenFunc func(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error)

// Bearer authenticates the bearer token in the Authorization header. The token must be valid for
// one of the audiences.
func Bearer(identify TokenFunc, audiences ...string) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
		token, _, more := strings.Cut(token, " ")
		if !strings.EqualFold(scheme, "bearer") {
			return nil, false, nil
		}
		if token == "" {
			if more {
				registry.AddWarning(r.Context(), "the provided Authorization header contains extra space before the bearer token, and is ignored")
			}
			return nil, false, nil
		}
		identity, err := identify(r.Context(), token, audiences)
		if err != nil {
			return nil, false, err
		}
		return identity.User, true, nil
	}
}

// AnyOf tries functions in order and returns the first identity. If none succeeds, it returns all
// errors and errInvalidToken.
func AnyOf(functions ...TokenFunc) TokenFunc {
	return func(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
		errs := []error{errInvalidToken}
		for _, identify := range functions {
			identity, err := identify(ctx, token, audiences)
			if identity != nil {
				identity.User = withAuthenticatedGroup(identity.User)
				return identity, nil
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
		return nil, utilerrors.NewAggregate(errs)
	}
}

// forAudiences returns a TokenFunc for tokens without audiences. They are valid for the audiences
// of the server, and for no others.
func forAudiences(own []string, identify func(context.Context, string) (*authenticationv1.UserInfo, error)) TokenFunc {
	return func(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
		valid := intersection(own, audiences)
		if len(valid) == 0 {
			return nil, nil
		}
		user, err := identify(ctx, token)
		if user == nil || err != nil {
			return nil, err
		}
		return &registry.TokenIdentity{User: user, Audiences: valid}, nil
	}
}
