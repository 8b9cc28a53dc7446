package authentication

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// reviewSelf returns the user of the request. The answer contains nothing of the request's body.
func reviewSelf(ctx context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	user := registry.UserFrom(ctx)
	if user == nil {
		return nil, apierrors.NewBadRequest("no user present on request")
	}
	return &authenticationv1.SelfSubjectReview{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(catalog.Now())},
		Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: *user.DeepCopy()},
	}, nil
}
