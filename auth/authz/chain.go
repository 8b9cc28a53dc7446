package authz

import (
	"context"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/registry"
)

// Chain is a registry.Authorizer that tries others in order.
type Chain []Named

// Named is an authorizer with its name in an AuthorizationConfiguration.
type Named struct {
	Name string
	registry.Authorizer
}

var _ registry.Authorizer = Chain{}

// Authorize implements registry.Authorizer. The first authorizer that allows or denies decides,
// also with an error. If none does, the result has the errors of all, and their reasons after their
// names, as in kube-apiserver.
func (c Chain) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	var reasons []string
	var errs []error
	for _, authorizer := range c {
		decision, err := authorizer.Authorize(ctx, access)
		if decision.Allowed || decision.Denied {
			return decision, err
		}
		if err != nil {
			errs = append(errs, err)
		}
		if decision.Reason != "" {
			reasons = append(reasons, authorizer.Name+": "+decision.Reason)
		}
	}
	return registry.Decision{Reason: strings.Join(reasons, "\n")}, utilerrors.NewAggregate(errs)
}

// Rules implements registry.Authorizer. It returns the rules of all authorizers.
func (c Chain) Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (registry.RuleSet, error) {
	var all registry.RuleSet
	var errs []error
	for _, authorizer := range c {
		set, err := authorizer.Rules(ctx, user, namespace)
		if err != nil {
			errs = append(errs, err)
		}
		all.Resource = append(all.Resource, set.Resource...)
		all.NonResource = append(all.NonResource, set.NonResource...)
		all.Incomplete = all.Incomplete || set.Incomplete
	}
	return all, utilerrors.NewAggregate(errs)
}
