package rbac

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/registry"
)

// Escalation refuses roles and bindings that would give more than their writer
// may do, unless the verb escalate (for a role) or bind (for a binding) is
// allowed to them by whoever decides, which may be more than roles. It belongs
// behind all steps that change objects.
func (a *Authorizer) Escalation(decider registry.Authorizer) registry.AdmissionStep {
	return registry.AdmissionStep{Name: "RBACEscalation", Admit: func(ctx context.Context, attributes *registry.Attributes) error {
		return a.admit(ctx, decider, attributes)
	}}
}

func (a *Authorizer) admit(ctx context.Context, decider registry.Authorizer, attributes *registry.Attributes) error {
	user := registry.UserFrom(ctx)
	if user == nil || isPrivileged(user) || attributes.Object == nil || attributes.Subresource != "" {
		return nil
	}
	write := &grantingWrite{authorizer: a, decider: decider, user: user, attributes: attributes}
	if write.touchesBookkeepingOnly() {
		return nil
	}
	switch obj := attributes.Object.(type) {
	case *rbacv1.Role:
		return write.checkRole(ctx, obj.Rules, false)
	case *rbacv1.ClusterRole:
		return write.checkRole(ctx, obj.Rules, aggregates(obj) || aggregates(attributes.OldObject))
	case *rbacv1.RoleBinding:
		return write.checkBinding(ctx, obj.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		return write.checkBinding(ctx, obj.RoleRef)
	default:
		return nil
	}
}

// aggregates tells whether a ClusterRole, which may be nil, takes in others.
func aggregates(obj runtime.Object) bool {
	role, ok := obj.(*rbacv1.ClusterRole)
	return ok && role.AggregationRule != nil && len(role.AggregationRule.ClusterRoleSelectors) > 0
}

// fullAuthority is what an aggregationRule, which can take in anything, needs.
func fullAuthority() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{Verbs: []string{all}, APIGroups: []string{all}, Resources: []string{all}},
		{Verbs: []string{all}, NonResourceURLs: []string{all}},
	}
}

// grantingWrite is one write of a role or a binding.
type grantingWrite struct {
	authorizer *Authorizer
	decider    registry.Authorizer
	user       *authenticationv1.UserInfo
	attributes *registry.Attributes
}

// touchesBookkeepingOnly allows what garbage collection changes to whoever may
// update the object.
func (w *grantingWrite) touchesBookkeepingOnly() bool {
	if w.attributes.OldObject == nil {
		return false
	}
	next := w.attributes.Object.DeepCopyObject()
	to, err := meta.Accessor(next)
	if err != nil {
		return false
	}
	from, err := meta.Accessor(w.attributes.OldObject)
	if err != nil {
		return false
	}
	to.SetOwnerReferences(from.GetOwnerReferences())
	to.SetFinalizers(from.GetFinalizers())
	to.SetManagedFields(from.GetManagedFields())
	return equality.Semantic.DeepEqual(next, w.attributes.OldObject)
}

// checkRole: unbounded is whether the role takes in what others grant.
func (w *grantingWrite) checkRole(ctx context.Context, rules []rbacv1.PolicyRule, unbounded bool) error {
	name := w.attributes.Name
	if w.attributes.Operation == registry.OperationCreate && w.attributes.OldObject == nil {
		name = "" // the path of a POST names nobody
	}
	mayEscalate, err := w.may(ctx, "escalate", w.attributes.Store.Resource().Name, name)
	if err != nil || mayEscalate {
		return err
	}
	return w.confirmed(ctx, func(p *policy) error {
		if err := w.covered(p, rules); err != nil {
			return err
		}
		if unbounded && w.covered(p, fullAuthority()) != nil {
			return w.forbidden(errors.New("must have cluster-admin privileges to use the aggregationRule"))
		}
		return nil
	})
}

func (w *grantingWrite) checkBinding(ctx context.Context, ref rbacv1.RoleRef) error {
	resource, known := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[ref.Kind]
	if known {
		mayBind, err := w.may(ctx, "bind", resource, ref.Name)
		if err != nil || mayBind {
			return err
		}
	}
	return w.confirmed(ctx, func(p *policy) error {
		rules, err := p.rulesOf(ref, w.attributes.Namespace)
		if err != nil {
			return err
		}
		return w.covered(p, rules)
	})
}

func (w *grantingWrite) may(ctx context.Context, verb, resource, name string) (bool, error) {
	decision, err := w.decider.Authorize(ctx, registry.Access{User: w.user, Resource: &authorizationv1.ResourceAttributes{
		Verb: verb, Group: rbacv1.GroupName, Version: all, Resource: resource, Namespace: w.attributes.Namespace, Name: name,
	}})
	return decision.Allowed, err
}

// confirmed refuses only what a consistent look refuses too.
func (w *grantingWrite) confirmed(ctx context.Context, check func(*policy) error) error {
	if check(w.authorizer.cache.current()) == nil {
		return nil
	}
	fresh, err := w.authorizer.cache.refresh(ctx)
	if err != nil {
		return err
	}
	return check(fresh)
}

// covered tells whether the user may do all that the rules allow.
func (w *grantingWrite) covered(p *policy, rules []rbacv1.PolicyRule) error {
	owned, faults := p.rulesFor(w.user, w.attributes.Namespace)
	rest := missing(owned, rules)
	if len(rest) == 0 {
		return nil
	}
	var lines []string
	for _, rule := range compacted(rest) {
		lines = append(lines, describe(rule))
	}
	slices.Sort(lines)
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		w.user.Username, w.user.Groups, strings.Join(slices.Compact(lines), "\n"))
	if len(faults) > 0 {
		text += fmt.Sprintf("; resolution errors: [%v]", utilerrors.NewAggregate(faults))
	}
	return w.forbidden(errors.New(text))
}

func (w *grantingWrite) forbidden(reason error) error {
	return apierrors.NewForbidden(w.attributes.Store.Resource().GroupResource(), w.attributes.Name, reason)
}
