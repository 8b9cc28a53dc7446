package registry

import (
	"context"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
)

// IsAuthorizedForSigner reports whether the user has a verb on a signer of certificates or on all
// signers of its domain. As in kube-apiserver, an error of the authorizer counts as a denial.
func IsAuthorizedForSigner(ctx context.Context, authorizer Authorizer, verb, signer string) bool {
	user := UserFrom(ctx)
	if user == nil {
		return true
	}
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		decision, err := authorizer.Authorize(ctx, Access{User: user, Resource: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: certificatesv1.GroupName, Version: "*", Resource: "signers", Name: name,
		}})
		if err == nil && decision.Allowed {
			return true
		}
	}
	return false
}
