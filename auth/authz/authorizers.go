package authz

import (
	"context"
	"errors"
	"slices"
	"strings"

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

// Node replaces the node authorizer of kube-apiserver, which allows a node to access the objects
// that the pods bound to it use. Node does not track these objects. It has no opinion, so that it
// never allows more than the original, and gives nodes a reason with a workaround.
type Node struct{}

// Authorize implements registry.Authorizer.
func (Node) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	if !isNode(access.User) {
		return registry.Decision{}, nil
	}
	return registry.Decision{Reason: `the Node authorizer of this server allows nothing: bind a role to the group "system:nodes"`}, nil
}

// Rules implements registry.Authorizer.
func (Node) Rules(_ context.Context, user *authenticationv1.UserInfo, _ string) (registry.RuleSet, error) {
	if !isNode(user) {
		return registry.RuleSet{}, nil
	}
	return registry.RuleSet{Incomplete: true}, errors.New("node authorizer does not support user rule resolution")
}

func isNode(user *authenticationv1.UserInfo) bool {
	return inGroup(user, "system:nodes") && strings.HasPrefix(user.Username, "system:node:")
}

func inGroup(user *authenticationv1.UserInfo, group string) bool {
	return user != nil && slices.Contains(user.Groups, group)
}
