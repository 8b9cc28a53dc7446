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
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/registry"
)

// Escalation returns the admission step that rejects roles and bindings with permissions that the
// user does not have, unless authorizer allows the user the verb escalate (for a role) or bind (for
// a binding). It must come after all steps that change objects.
func (a *Authorizer) Escalation(authorizer registry.Authorizer) registry.AdmissionStep {
	return registry.AdmissionStep{Name: "RBACEscalation", Admit: func(ctx context.Context, attributes *registry.Attributes) error {
		return a.admit(ctx, authorizer, attributes)
	}}
}

func (a *Authorizer) admit(ctx context.Context, authorizer registry.Authorizer, attributes *registry.Attributes) error {
	user := registry.UserFrom(ctx)
	if user == nil || isPrivileged(user) || attributes.Object == nil || attributes.Subresource != "" {
		return nil
	}
	write := &grantingWrite{cache: a.cache, authorizer: authorizer, user: user, attributes: attributes}
	if write.changesGCFieldsOnly() {
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

// aggregates reports whether an object, which may be nil, is a ClusterRole with an aggregation
// rule.
func aggregates(obj runtime.Object) bool {
	role, ok := obj.(*rbacv1.ClusterRole)
	return ok && role.AggregationRule != nil && len(role.AggregationRule.ClusterRoleSelectors) > 0
}

// fullAuthority returns the rules needed to write an aggregationRule, which can select any role.
func fullAuthority() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{Verbs: []string{all}, APIGroups: []string{all}, Resources: []string{all}},
		{Verbs: []string{all}, NonResourceURLs: []string{all}},
	}
}

// grantingWrite is one write of a role or a binding.
type grantingWrite struct {
	cache      *cache
	authorizer registry.Authorizer
	user       *authenticationv1.UserInfo
	attributes *registry.Attributes
}

// changesGCFieldsOnly reports whether an update changes only owner references and finalizers. Every
// user who may update the object may change them.
func (w *grantingWrite) changesGCFieldsOnly() bool {
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

// checkRole checks a write of a role. aggregates is set for a role with an aggregationRule.
func (w *grantingWrite) checkRole(ctx context.Context, rules []rbacv1.PolicyRule, aggregates bool) error {
	name := w.attributes.Name
	if w.attributes.Operation == registry.OperationCreate && w.attributes.OldObject == nil {
		name = "" // the path of a POST has no name
	}
	if w.may(ctx, "escalate", rbacv1.GroupName, w.attributes.Resource.Name, name) {
		return nil
	}
	return w.checkConsistently(ctx, func(p *policy) error {
		if err := w.checkCovered(p, rules); err != nil {
			return err
		}
		if aggregates && w.checkCovered(p, fullAuthority()) != nil {
			return w.forbidden(errors.New("must have cluster-admin privileges to use the aggregationRule"))
		}
		return nil
	})
}

func (w *grantingWrite) checkBinding(ctx context.Context, ref rbacv1.RoleRef) error {
	resource, ok := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[ref.Kind]
	if ok && w.may(ctx, "bind", ref.APIGroup, resource, ref.Name) {
		return nil
	}
	if err := w.checkReference(ref); err != nil {
		return err
	}
	return w.checkConsistently(ctx, func(p *policy) error {
		rules, err := p.rulesOf(ref, w.attributes.Namespace)
		if err != nil {
			return w.asNotFound(err)
		}
		return w.checkCovered(p, rules)
	})
}

// checkReference returns the 400 for a role that cannot exist. As in kube-apiserver, the user's
// permissions are checked before the binding is validated.
func (w *grantingWrite) checkReference(ref rbacv1.RoleRef) error {
	messages := path.IsValidPathSegmentName(ref.Name)
	switch {
	case ref.Kind != "Role" && ref.Kind != "ClusterRole":
		return nil
	case ref.Kind == "Role" && w.attributes.Namespace == "":
		return apierrors.NewBadRequest("Namespace parameter required.")
	case ref.Name == "":
		return apierrors.NewBadRequest("Name parameter required.")
	case len(messages) > 0:
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", ref.Name, strings.Join(messages, ";")))
	default:
		return nil
	}
}

// may reports whether the user may do a verb on a role. As in kube-apiserver, the permissions of
// the user decide after an error of the authorizer.
func (w *grantingWrite) may(ctx context.Context, verb, group, resource, name string) bool {
	decision, err := w.authorizer.Authorize(ctx, registry.Access{User: w.user, Resource: &authorizationv1.ResourceAttributes{
		Verb: verb, Group: group, Version: all, Resource: resource, Namespace: w.attributes.Namespace, Name: name,
	}})
	if err != nil {
		w.cache.logger.ErrorContext(ctx, "rbac: authorize the grant of a role",
			"user", w.user.Username, "verb", verb, "resource", resource, "name", name, "error", err)
	}
	return decision.Allowed
}

// checkConsistently repeats a failed check after a consistent read.
func (w *grantingWrite) checkConsistently(ctx context.Context, check func(*policy) error) error {
	if check(w.cache.current()) == nil {
		return nil
	}
	fresh, err := w.cache.refresh(ctx)
	if err != nil {
		return err
	}
	return check(fresh)
}

// checkCovered returns an error unless the user has all permissions of the rules.
func (w *grantingWrite) checkCovered(p *policy, rules []rbacv1.PolicyRule) error {
	owned, errs := p.rulesFor(w.user, w.attributes.Namespace)
	uncovered := missing(owned, rules)
	if len(uncovered) == 0 {
		return nil
	}
	var lines []string
	for _, rule := range compacted(uncovered) {
		lines = append(lines, describe(rule))
	}
	slices.Sort(lines)
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		w.user.Username, w.user.Groups, strings.Join(slices.Compact(lines), "\n"))
	if len(errs) > 0 {
		for i, err := range errs {
			errs[i] = w.asNotFound(err)
		}
		text += fmt.Sprintf("; resolution errors: [%v]", utilerrors.NewAggregate(errs))
	}
	return w.forbidden(errors.New(text))
}

// asNotFound returns the 404 of a missing role with the resource of the request, as kube-apiserver
// does, and any other error as it is.
func (w *grantingWrite) asNotFound(err error) error {
	var status *apierrors.StatusError
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.ErrStatus.Details == nil {
		return err
	}
	return apierrors.NewNotFound(w.attributes.Resource.GroupResource(), status.ErrStatus.Details.Name)
}

func (w *grantingWrite) forbidden(reason error) error {
	return apierrors.NewForbidden(w.attributes.Resource.GroupResource(), w.attributes.Name, reason)
}
