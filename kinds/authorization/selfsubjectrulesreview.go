package authorization

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// reviewSelfRules returns the rules of the request's user in a namespace.
func reviewSelfRules(ctx context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
	review := req.Object.(*authorizationv1.SelfSubjectRulesReview)
	user := registry.UserFrom(ctx)
	if user == nil {
		return nil, apierrors.NewBadRequest("no user present on request")
	}
	if review.Spec.Namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	rules, err := catalog.Authorizer().Rules(ctx, user, review.Spec.Namespace)
	// As in kube-apiserver, and unlike the other reviews, the answer does not repeat the spec.
	// Lists without rules are [] in JSON, never null.
	answer := &authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    append([]authorizationv1.ResourceRule{}, rules.Resource...),
		NonResourceRules: append([]authorizationv1.NonResourceRule{}, rules.NonResource...),
		Incomplete:       rules.Incomplete,
	}}
	if err != nil {
		answer.Status.EvaluationError = err.Error()
	}
	return answer, nil
}
