package authentication

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// reviewToken knows no token: this server does not authenticate by token. As in
// kube-apiserver the rest of a status that came with the question stays.
func reviewToken(_ context.Context, _ *registry.Store, req registry.CreateRequest) (runtime.Object, error) {
	review := req.Object.(*authenticationv1.TokenReview)
	if review.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	review.Status.Authenticated = false
	review.Status.Error = "invalid bearer token"
	return review, nil
}
