package registry

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// Authorizer decides whether a user may do something. Implementations are safe
// for concurrent use.
type Authorizer interface {
	Authorize(ctx context.Context, attributes Access) (Decision, error)
	// Rules lists what a user may do in a namespace, for
	// SelfSubjectRulesReview; incomplete tells that there may be more.
	Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (RuleSet, error)
}

// Access is one request to be decided. Exactly one of Resource and NonResource
// is set.
type Access struct {
	User        *authenticationv1.UserInfo
	Resource    *authorizationv1.ResourceAttributes
	NonResource *authorizationv1.NonResourceAttributes
}

// Decision is what an authorizer came to. Not allowed and not denied is no
// opinion.
type Decision struct {
	Allowed, Denied bool
	Reason          string
}

// RuleSet is what a user may do.
type RuleSet struct {
	Resource    []authorizationv1.ResourceRule
	NonResource []authorizationv1.NonResourceRule
	Incomplete  bool
}

// AlwaysAllow allows everything.
type AlwaysAllow struct{}

var _ Authorizer = AlwaysAllow{}

// Authorize implements Authorizer.
func (AlwaysAllow) Authorize(context.Context, Access) (Decision, error) {
	return Decision{Allowed: true}, nil
}

// Rules implements Authorizer.
func (AlwaysAllow) Rules(context.Context, *authenticationv1.UserInfo, string) (RuleSet, error) {
	return RuleSet{
		Resource:    []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
		NonResource: []authorizationv1.NonResourceRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
	}, nil
}
