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

// privilegedGroup is the group whose members may do everything.
const privilegedGroup = "system:masters"

// Config configures an Authorizer.
type Config struct {
	// Store returns the stores of roles, clusterroles, rolebindings and clusterrolebindings. New
	// does not call it.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Logger is for operators. Nil discards its output.
	Logger *slog.Logger
}

// Authorizer is a registry.Authorizer. Without Run it does more consistent reads, and revoked
// permissions stay in effect until the next one.
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

// Run watches roles and bindings until ctx ends, and returns nil then.
func (a *Authorizer) Run(ctx context.Context) error { return a.cache.run(ctx) }

// Authorize implements registry.Authorizer. It has no opinion if no rule allows the request. An
// error means that the roles could not be read.
func (a *Authorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	if isPrivileged(access.User) {
		return registry.Decision{Allowed: true}, nil
	}
	current := a.cache.current()
	decision := current.decide(access)
	if decision.Allowed {
		return decision, nil
	}
	fresh, err := a.cache.refresh(ctx)
	switch {
	case err != nil:
		return registry.Decision{}, err
	case fresh == current:
		return decision, nil
	}
	return fresh.decide(access), nil
}

// Rules implements registry.Authorizer. It returns the rules of roles only, for members of the
// privileged group too.
func (a *Authorizer) Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (registry.RuleSet, error) {
	var set registry.RuleSet
	fresh, err := a.cache.refresh(ctx)
	if err != nil {
		return set, err
	}
	rules, errs := fresh.rulesFor(user, namespace)
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
	return set, utilerrors.NewAggregate(errs)
}

func isPrivileged(user *authenticationv1.UserInfo) bool {
	return user != nil && slices.Contains(user.Groups, privilegedGroup)
}

// decide returns whether a rule allows the request, and the reason.
func (p *policy) decide(access registry.Access) registry.Decision {
	namespace := ""
	if access.Resource != nil {
		namespace = access.Resource.Namespace
	}
	var decision registry.Decision
	var errs []error
	p.visit(access.User, namespace, func(source grant, rules []rbacv1.PolicyRule, err error) bool {
		if err != nil {
			errs = append(errs, err)
		}
		if slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return allows(&rule, access) }) {
			decision = registry.Decision{Allowed: true, Reason: "RBAC: allowed by " + source.String()}
		}
		return !decision.Allowed
	})
	if !decision.Allowed && len(errs) > 0 {
		decision.Reason = "RBAC: " + utilerrors.NewAggregate(errs).Error()
	}
	return decision
}
