package authz

import (
	"context"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/registry"
)

// Chain is a registry.Authorizer that asks others in order.
type Chain []registry.Authorizer

var _ registry.Authorizer = Chain{}

// Authorize implements registry.Authorizer. The first that allows or denies
// decides; where nobody does, the reasons and errors are those of all.
func (c Chain) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	var reasons []string
	var faults []error
	for _, authorizer := range c {
		decision, err := authorizer.Authorize(ctx, access)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if decision.Allowed || decision.Denied {
			return decision, nil
		}
		if decision.Reason != "" {
			reasons = append(reasons, decision.Reason)
		}
	}
	return registry.Decision{Reason: strings.Join(reasons, "\n")}, utilerrors.NewAggregate(faults)
}

// Rules implements registry.Authorizer with what all of them allow.
func (c Chain) Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (registry.RuleSet, error) {
	var all registry.RuleSet
	var faults []error
	for _, authorizer := range c {
		set, err := authorizer.Rules(ctx, user, namespace)
		if err != nil {
			faults = append(faults, err)
		}
		all.Resource = append(all.Resource, set.Resource...)
		all.NonResource = append(all.NonResource, set.NonResource...)
		all.Incomplete = all.Incomplete || set.Incomplete
	}
	return all, utilerrors.NewAggregate(faults)
}
