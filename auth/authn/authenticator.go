package authn

import (
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

const (
	authenticatedGroup   = "system:authenticated"
	unauthenticatedGroup = "system:unauthenticated"

	extraPrefix       = "authentication.kubernetes.io/"
	credentialIDExtra = extraPrefix + "credential-id"
)

// Authenticator returns the user of a request. It returns false and no error if the request has no
// credentials of its kind.
type Authenticator func(*http.Request) (*authenticationv1.UserInfo, bool, error)

// Chain tries authenticators in order and returns the first user, as a member of
// system:authenticated. It returns all errors if no authenticator succeeds.
func Chain(authenticators ...Authenticator) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		var errs []error
		for _, authenticate := range authenticators {
			user, ok, err := authenticate(r)
			if ok {
				return withAuthenticatedGroup(user), true, nil
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
		return nil, false, utilerrors.NewAggregate(errs)
	}
}

func withAuthenticatedGroup(user *authenticationv1.UserInfo) *authenticationv1.UserInfo {
	if slices.Contains(user.Groups, authenticatedGroup) || slices.Contains(user.Groups, unauthenticatedGroup) {
		return user
	}
	out := user.DeepCopy()
	out.Groups = append(out.Groups, authenticatedGroup)
	return out
}
