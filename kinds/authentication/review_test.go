package authentication

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func create(t *testing.T, ctx context.Context, resource string, obj runtime.Object) (runtime.Object, error) {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{})
	if err := catalog.Add(Resources(feature.Default())...); err != nil {
		t.Fatal(err)
	}
	store, ok := catalog.Snapshot().Served(authenticationv1.SchemeGroupVersion.WithResource(resource))
	if !ok {
		t.Fatalf("there is no store of %s", resource)
	}
	result, err := store.Create(ctx, registry.CreateRequest{Object: obj})
	return registrytest.Object(result.Entry), err
}

func TestSelfSubjectReviewReturnsTheUser(t *testing.T) {
	user := &authenticationv1.UserInfo{Username: "admin", UID: "admin", Groups: []string{"system:masters", "system:authenticated"}}
	obj, err := create(t, registry.WithUser(t.Context(), user), "selfsubjectreviews", &authenticationv1.SelfSubjectReview{})
	if err != nil {
		t.Fatal(err)
	}
	review := obj.(*authenticationv1.SelfSubjectReview)
	if diff := cmp.Diff(*user, review.Status.UserInfo); diff != "" {
		t.Errorf("user (-want +got):\n%s", diff)
	}
	if review.CreationTimestamp.IsZero() || review.UID != "" {
		t.Errorf("created %v with uid %q, want a time and no uid", review.CreationTimestamp, review.UID)
	}
	if _, err := create(t, t.Context(), "selfsubjectreviews", &authenticationv1.SelfSubjectReview{}); !apierrors.IsBadRequest(err) {
		t.Errorf("without a user: %v, want a bad request", err)
	}
}

func TestTokenReviewWithoutAuthenticator(t *testing.T) {
	forged := authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: "root"}}
	obj, err := create(t, t.Context(), "tokenreviews", &authenticationv1.TokenReview{
		Spec:   authenticationv1.TokenReviewSpec{Token: "not-a-token"},
		Status: forged,
	})
	if err != nil {
		t.Fatal(err)
	}
	status := obj.(*authenticationv1.TokenReview).Status
	if status.Authenticated || status.Error != "invalid bearer token" {
		t.Errorf("authenticated %v, error %q", status.Authenticated, status.Error)
	}
	_, err = create(t, t.Context(), "tokenreviews", &authenticationv1.TokenReview{})
	if !apierrors.IsBadRequest(err) || err.Error() != "token is required for TokenReview in authentication" {
		t.Errorf("without a token: %v", err)
	}
}
