package authn

import (
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

const (
	anonymousUser        = "system:anonymous"
	authenticatedGroup   = "system:authenticated"
	unauthenticatedGroup = "system:unauthenticated"

	extraPrefix       = "authentication.kubernetes.io/"
	credentialIDExtra = extraPrefix + "credential-id"
)

// Authenticator finds out who makes a request. False without an error: the
// request carries nothing that this authenticator understands.
type Authenticator func(*http.Request) (*authenticationv1.UserInfo, bool, error)

// Chain asks in order until one knows the user, and puts whoever that is into
// system:authenticated. What went wrong on the way counts only if nobody does.
func Chain(authenticators ...Authenticator) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		var faults []error
		for _, authenticate := range authenticators {
			user, ok, err := authenticate(r)
			if ok {
				return withAuthenticatedGroup(user), true, nil
			}
			if err != nil {
				faults = append(faults, err)
			}
		}
		return nil, false, utilerrors.NewAggregate(faults)
	}
}

// OrAnonymous lets requests that carry no credentials pass as
// system:anonymous. Credentials that are wrong stay an error.
func OrAnonymous(known Authenticator) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		if user, ok, err := known(r); ok || err != nil {
			return user, ok, err
		}
		return &authenticationv1.UserInfo{Username: anonymousUser, Groups: []string{unauthenticatedGroup}}, true, nil
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
