package authentication

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// reviewToken authenticates a token with the server's authenticator. Without an authenticator no
// token is valid. As in kube-apiserver, the answer for an invalid token keeps the status that the
// client sent.
func reviewToken(ctx context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
	review := req.Object.(*authenticationv1.TokenReview)
	if review.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	review.Status.Authenticated = false
	tokens := catalog.Tokens()
	if tokens == nil {
		review.Status.Error = "invalid bearer token"
		return review, nil
	}
	audiences := review.Spec.Audiences
	if len(audiences) == 0 {
		audiences = tokens.Audiences()
	}
	identity, err := tokens.Identify(ctx, review.Spec.Token, audiences)
	if err != nil {
		review.Status.Error = err.Error()
		return review, nil
	}
	review.Status.Authenticated = true
	review.Status.User = *identity.User
	review.Status.Audiences = identity.Audiences
	return review, nil
}
