package authz

import (
	"context"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// Masters allows everything to the group system:masters, and has no opinion on other users. It is
// the first of a chain, so that no authorization mode locks administrators out.
type Masters struct{}

// Authorize implements registry.Authorizer.
func (Masters) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	return registry.Decision{Allowed: inGroup(access.User, "system:masters")}, nil
}

// Rules implements registry.Authorizer. As in kube-apiserver, it returns none.
func (Masters) Rules(context.Context, *authenticationv1.UserInfo, string) (registry.RuleSet, error) {
	return registry.RuleSet{}, nil
}

// AlwaysDeny allows nothing. As in kube-apiserver, it leaves the decision to the next authorizer.
type AlwaysDeny struct{}

// Authorize implements registry.Authorizer.
func (AlwaysDeny) Authorize(context.Context, registry.Access) (registry.Decision, error) {
	return registry.Decision{Reason: "Everything is forbidden."}, nil
}

// Rules implements registry.Authorizer.
func (AlwaysDeny) Rules(context.Context, *authenticationv1.UserInfo, string) (registry.RuleSet, error) {
	return registry.RuleSet{}, nil
}

func inGroup(user *authenticationv1.UserInfo, group string) bool {
	return user != nil && slices.Contains(user.Groups, group)
}
