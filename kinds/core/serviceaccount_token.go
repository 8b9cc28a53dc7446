package core

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

// defaultTokenSeconds is the default lifetime of a token.
const defaultTokenSeconds = 60 * 60

func tokenSubresource() registry.Subresource {
	return registry.Subresource{
		Name:    "token",
		Verbs:   []string{"create"},
		Kind:    authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"),
		New:     func() runtime.Object { return &authenticationv1.TokenRequest{} },
		Default: defaultTokenRequest,
		Create:  createToken,
	}
}

func defaultTokenRequest(obj runtime.Object) {
	spec := &obj.(*authenticationv1.TokenRequest).Spec
	if spec.ExpirationSeconds == nil {
		spec.ExpirationSeconds = new(int64(defaultTokenSeconds))
	}
}

// createToken issues a token of a service account. Without signing keys it returns an error after
// admission.
func createToken(ctx context.Context, store *registry.Store, req registry.ActionRequest) (runtime.Object, error) {
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
	account, err := registry.Read[*corev1.ServiceAccount](ctx, store, req.Namespace, req.Name, "")
	if err != nil {
		return nil, err
	}
	if request.UID != "" && request.UID != account.UID {
		return nil, apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, req.Name, fmt.Errorf(
			"the UID in the token request (%s) does not match the UID of the service account (%s)", request.UID, account.UID))
	}
	tokens := store.Catalog().Tokens()
	if len(request.Spec.Audiences) == 0 && tokens != nil {
		request.Spec.Audiences = tokens.Audiences()
	}
	// The time is read before the token is issued, so that the token does not expire before the
	// time in the answer.
	request.CreationTimestamp = metav1.NewTime(store.Catalog().Now())
	request.Namespace, request.Name, request.UID = account.Namespace, account.Name, account.UID
	request.Status = authenticationv1.TokenRequestStatus{}
	if errs := validateTokenRequest(request); len(errs) > 0 {
		return nil, apierrors.NewInvalid(kind, "", errs)
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if tokens == nil {
		return nil, noSigningKeys(account.Name)
	}
	return issueToken(ctx, store.Catalog(), request)
}

// issueToken returns the request, which has the metadata of its account, with the token.
func issueToken(ctx context.Context, catalog *registry.Catalog, request *authenticationv1.TokenRequest) (runtime.Object, error) {
	now := request.CreationTimestamp.Time
	requested := time.Duration(*request.Spec.ExpirationSeconds) * time.Second
	claims := registry.TokenClaims{
		Namespace: request.Namespace,
		Account:   registry.TokenObject{Name: request.Name, UID: string(request.UID)},
		Audiences: request.Spec.Audiences,
		IssuedAt:  now,
		Lifetime:  requested,
	}
	if err := bindToken(ctx, catalog, &claims, request.Spec.BoundObjectRef); err != nil {
		return nil, err
	}
	extendToken(&claims, catalog.Tokens().Audiences())
	token, err := catalog.Tokens().Issue(ctx, claims)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	request.Status = authenticationv1.TokenRequestStatus{
		Token:               token,
		ExpirationTimestamp: metav1.NewTime(now.Add(requested)),
	}
	return request, nil
}

// extendToken extends the token of a projected volume with the lifetime that the plugin
// ServiceAccount requests, so that clients that do not read it again keep working. own are the
// audiences of the server.
func extendToken(claims *registry.TokenClaims, own []string) {
	const injected, extended = (60*60 + 7) * time.Second, 365 * 24 * time.Hour
	isOther := func(audience string) bool { return !slices.Contains(own, audience) }
	if claims.Pod != nil && claims.Lifetime == injected && !slices.ContainsFunc(claims.Audiences, isOther) {
		claims.WarnAfter, claims.Lifetime = injected, extended
	}
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
	case *seconds < minSeconds:
		errs = append(errs, field.Invalid(path, *seconds, "may not specify a duration less than 10 minutes"))
	case *seconds > maxSeconds:
		errs = append(errs, field.Invalid(path, *seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	if isWebhookReference(r.Spec.BoundObjectRef) {
		if len(r.Spec.Audiences) != 1 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "audiences"), r.Spec.Audiences, "must be length 1 when bound to a webhook config"))
		}
		if len(r.Spec.Attestations) != 1 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "attestations"), r.Spec.Attestations,
				"webhook bound requests require exactly one admissionReviewAPIGroups attestation"))
		}
	} else if len(r.Spec.Attestations) > 0 { // as in kube-apiserver, the only error
		errs = field.ErrorList{field.Invalid(field.NewPath("spec", "attestations"), r.Spec.Attestations,
			"attestations may only be specified with a webhook bound object reference")}
	}
	return errs
}
