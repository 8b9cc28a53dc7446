package core

import (
	"context"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

func tokenSubresource() registry.Subresource {
	return registry.Subresource{
		Name:   "token",
		Verbs:  []string{"create"},
		Kind:   authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"),
		New:    func() runtime.Object { return &authenticationv1.TokenRequest{} },
		Create: createToken,
	}
}

// createToken checks a request for a token and says that there are no keys to
// sign one with.
func createToken(ctx context.Context, store *registry.Store, req registry.CreateRequest) (runtime.Object, error) {
	request, ok := req.Object.(*authenticationv1.TokenRequest)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a TokenRequest object: %T", req.Object))
	}
	if errs := validateTokenRequest(request, req.Name); len(errs) > 0 {
		kind := authenticationv1.SchemeGroupVersion.WithKind("TokenRequest").GroupKind()
		return nil, apierrors.NewInvalid(kind, "", errs)
	}
	account, err := read[*corev1.ServiceAccount](ctx, store, req.Namespace, req.Name)
	if err != nil {
		return nil, err
	}
	return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotImplemented,
		Reason:  "NotImplemented",
		Message: fmt.Sprintf("cannot issue a token for serviceaccounts %q: this server has no keys to sign tokens with", account.Name),
		Details: &metav1.StatusDetails{Kind: "serviceaccounts", Name: account.Name},
	}}
}

func validateTokenRequest(r *authenticationv1.TokenRequest, account string) field.ErrorList {
	const (
		minSeconds = 10 * 60
		maxSeconds = 1 << 32
	)
	var errs field.ErrorList
	if r.Name != "" && r.Name != account {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), r.Name, "must match the service account name if specified"))
	}
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
