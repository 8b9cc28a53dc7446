package authorization

import (
	"context"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

func reviewAccess(ctx context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
	review := req.Object.(*authorizationv1.SubjectAccessReview)
	errs := validateSpec(&review.Spec)
	errs = append(errs, validateMetadata(review.ObjectMeta, "", "must be empty")...)
	if len(errs) > 0 {
		return nil, invalid(errs)
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	review.Status = decide(ctx, catalog.Authorizer(), subjectAccess(&review.Spec))
	return review, nil
}

func reviewLocalAccess(ctx context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
	review := req.Object.(*authorizationv1.LocalSubjectAccessReview)
	if errs := validateLocal(review); len(errs) > 0 {
		return nil, invalid(errs)
	}
	if req.Namespace == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("namespace is required on this type of request: %v", req.Namespace))
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	review.Status = decide(ctx, catalog.Authorizer(), subjectAccess(&review.Spec))
	return review, nil
}

func reviewSelfAccess(ctx context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
	review := req.Object.(*authorizationv1.SelfSubjectAccessReview)
	errs := validateAttributes(review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
	errs = append(errs, validateSelectors(review.Spec.ResourceAttributes)...)
	errs = append(errs, validateMetadata(review.ObjectMeta, "", "must be empty")...)
	if len(errs) > 0 {
		return nil, invalid(errs)
	}
	user := registry.UserFrom(ctx)
	if user == nil {
		return nil, apierrors.NewBadRequest("no user present on request")
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	review.Status = decide(ctx, catalog.Authorizer(), registry.Access{
		User:        user,
		Resource:    review.Spec.ResourceAttributes,
		NonResource: review.Spec.NonResourceAttributes,
	})
	return review, nil
}

func subjectAccess(spec *authorizationv1.SubjectAccessReviewSpec) registry.Access {
	user := &authenticationv1.UserInfo{Username: spec.User, UID: spec.UID, Groups: spec.Groups}
	for key, values := range spec.Extra {
		if user.Extra == nil {
			user.Extra = map[string]authenticationv1.ExtraValue{}
		}
		user.Extra[key] = authenticationv1.ExtraValue(values)
	}
	return registry.Access{
		User:        user,
		Resource:    spec.ResourceAttributes,
		NonResource: spec.NonResourceAttributes,
	}
}

// decide returns the decision of the authorizer as a status. An error becomes part of the status,
// because an authorizer may return a decision and an error.
func decide(ctx context.Context, authorizer registry.Authorizer, access registry.Access) authorizationv1.SubjectAccessReviewStatus {
	decision, err := authorizer.Authorize(ctx, access)
	status := authorizationv1.SubjectAccessReviewStatus{
		Allowed: decision.Allowed,
		Denied:  decision.Denied,
		Reason:  decision.Reason,
	}
	texts := ignored(access.Resource)
	if err != nil {
		texts = append([]string{err.Error()}, texts...)
	}
	status.EvaluationError = strings.Join(texts, "; ")
	return status
}

// invalid returns an error without a kind, as kube-apiserver does.
func invalid(errs field.ErrorList) error {
	return apierrors.NewInvalid(authorizationv1.SchemeGroupVersion.WithKind("").GroupKind(), "", errs)
}
