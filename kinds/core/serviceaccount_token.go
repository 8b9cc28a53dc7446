package core

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/registry"
)

// defaultTokenSeconds is the default lifetime of a token.
const defaultTokenSeconds = 60 * 60

func tokenSubresource() registry.Subresource {
	return registry.Subresource{
		Name:   "token",
		Verbs:  []string{"create"},
		Kind:   authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"),
		New:    func() runtime.Object { return &authenticationv1.TokenRequest{} },
		Create: createToken,
	}
}

// createToken issues a token of a service account. Without signing keys it returns an error after
// the validation of the request.
func createToken(ctx context.Context, store *registry.Store, req registry.CreateRequest) (runtime.Object, error) {
	request, ok := req.Object.(*authenticationv1.TokenRequest)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a TokenRequest object: %T", req.Object))
	}
	kind := authenticationv1.SchemeGroupVersion.WithKind("TokenRequest").GroupKind()
	if request.Name != "" && request.Name != req.Name {
		return nil, apierrors.NewInvalid(kind, req.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "name"), request.Name, "must match the service account name if specified"),
		})
	}
	if errs := validateTokenRequest(request); len(errs) > 0 {
		return nil, apierrors.NewInvalid(kind, "", errs)
	}
	account, err := registry.Read[*corev1.ServiceAccount](ctx, store, req.Namespace, req.Name, "")
	if err != nil {
		return nil, err
	}
	if store.Catalog().Tokens() == nil {
		return nil, noSigningKeys(account.Name)
	}
	return issueToken(ctx, store.Catalog(), account, request)
}

// issueToken returns the request with the account's metadata, its defaults and the token.
func issueToken(ctx context.Context, catalog *registry.Catalog, account *corev1.ServiceAccount, request *authenticationv1.TokenRequest) (runtime.Object, error) {
	request.ObjectMeta = metav1.ObjectMeta{
		Namespace: account.Namespace, Name: account.Name,
		UID: account.UID, CreationTimestamp: account.CreationTimestamp,
		ManagedFields: request.ManagedFields,
	}
	if len(request.Spec.Audiences) == 0 {
		request.Spec.Audiences = catalog.Tokens().Audiences()
	}
	request.Spec.ExpirationSeconds = cmp.Or(request.Spec.ExpirationSeconds, ptr.To[int64](defaultTokenSeconds))
	// The time is read first, so that the token does not expire before the time in the answer.
	now := time.Now()
	claims := registry.TokenClaims{
		Namespace: account.Namespace,
		Account:   registry.TokenObject{Name: account.Name, UID: string(account.UID)},
		Audiences: request.Spec.Audiences,
		IssuedAt:  now,
		Lifetime:  time.Duration(*request.Spec.ExpirationSeconds) * time.Second,
	}
	if err := bindToken(ctx, catalog, &claims, request.Spec.BoundObjectRef); err != nil {
		return nil, err
	}
	token, err := catalog.Tokens().Issue(ctx, claims)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	request.Status = authenticationv1.TokenRequestStatus{
		Token:               token,
		ExpirationTimestamp: metav1.NewTime(now.Add(claims.Lifetime)),
	}
	return request, nil
}

func noSigningKeys(account string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotImplemented,
		Reason:  "NotImplemented",
		Message: fmt.Sprintf("cannot issue a token for serviceaccounts %q: this server has no keys to sign tokens with", account),
		Details: &metav1.StatusDetails{Kind: "serviceaccounts", Name: account},
	}}
}

func validateTokenRequest(r *authenticationv1.TokenRequest) field.ErrorList {
	const (
		minSeconds = 10 * 60
		maxSeconds = 1 << 32
	)
	var errs field.ErrorList
	seconds := r.Spec.ExpirationSeconds
	path := field.NewPath("spec", "expirationSeconds")
	switch {
	case seconds == nil:
	case *seconds < minSeconds:
		errs = append(errs, field.Invalid(path, *seconds, "may not specify a duration less than 10 minutes"))
	case *seconds > maxSeconds:
		errs = append(errs, field.Invalid(path, *seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	return errs
}
