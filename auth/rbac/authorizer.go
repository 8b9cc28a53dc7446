package rbac

import (
	"context"
	"log/slog"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/registry"
)

// privilegedGroup may do everything, whatever the roles say.
const privilegedGroup = "system:masters"

// Config is what an Authorizer is made of.
type Config struct {
	// Store finds the stores of roles, clusterroles, rolebindings and
	// clusterrolebindings. It is asked when they are needed, not before.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Logger takes what operators should know. Nil discards it.
	Logger *slog.Logger
}

// Authorizer is a registry.Authorizer. It works without Run too, at the price
// of a consistent read where it would know the answer.
type Authorizer struct {
	config Config
	cache  *cache
}

var _ registry.Authorizer = (*Authorizer)(nil)

// New returns an authorizer. It starts nothing.
func New(config Config) *Authorizer {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Authorizer{config: config, cache: newCache(config)}
}

// Run follows what happens to roles and bindings until ctx ends.
func (a *Authorizer) Run(ctx context.Context) error { return a.cache.run(ctx) }

// Authorize implements registry.Authorizer. It has no opinion where no rule
// allows the access; an error means that the roles could not be read.
func (a *Authorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	if isPrivileged(access.User) {
		return registry.Decision{Allowed: true}, nil
	}
	known := a.cache.current()
	decision := known.decide(access)
	if decision.Allowed {
		return decision, nil
	}
	fresh, err := a.cache.refresh(ctx)
	switch {
	case err != nil:
		return registry.Decision{}, err
	case fresh == known:
		return decision, nil
	}
	return fresh.decide(access), nil
}

// Rules implements registry.Authorizer with what roles allow, to the privileged
// group too.
func (a *Authorizer) Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (registry.RuleSet, error) {
	var set registry.RuleSet
	fresh, err := a.cache.refresh(ctx)
	if err != nil {
		return set, err
	}
	rules, faults := fresh.rulesFor(user, namespace)
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			set.Resource = append(set.Resource, authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			set.NonResource = append(set.NonResource, authorizationv1.NonResourceRule{
				Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs,
			})
		}
	}
	return set, utilerrors.NewAggregate(faults)
}

func isPrivileged(user *authenticationv1.UserInfo) bool {
	return user != nil && slices.Contains(user.Groups, privilegedGroup)
}

// decide looks for a rule that allows the access.
func (p *policy) decide(access registry.Access) registry.Decision {
	namespace := ""
	if access.Resource != nil {
		namespace = access.Resource.Namespace
	}
	var decision registry.Decision
	var faults []error
	p.visit(access.User, namespace, func(source grant, rules []rbacv1.PolicyRule, err error) bool {
		if err != nil {
			faults = append(faults, err)
		}
		if slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return allows(&rule, access) }) {
			decision = registry.Decision{Allowed: true, Reason: "RBAC: allowed by " + source.String()}
		}
		return !decision.Allowed
	})
	if !decision.Allowed && len(faults) > 0 {
		decision.Reason = "RBAC: " + utilerrors.NewAggregate(faults).Error()
	}
	return decision
}
