package policy

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/registry"
)

// validatePolicyAccess rejects a paramKind unless the user may get all objects of that kind,
// because the expressions of the policy can reveal params.
func validatePolicyAccess(ctx context.Context, v registry.Validation, errs field.ErrorList) field.ErrorList {
	kind := paramKindOf(v.Obj)
	if len(errs) > 0 || v.Subresource != "" || kind == nil {
		return errs
	}
	if v.Old != nil {
		if old := paramKindOf(v.Old); old != nil && *old == *kind {
			return errs
		}
	}
	access := paramAccess{verb: "get", namespace: "*", name: "*"}
	access.resolve(v.Catalog, kind)
	allowed, err := access.authorize(ctx, v.Catalog.Authorizer())
	if err == nil && !allowed {
		err = fmt.Errorf(`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`,
			expression.UserInfo(registry.UserFrom(ctx)), kind.Kind, kind.APIVersion)
	}
	if err != nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "paramKind"), err.Error()))
	}
	return errs
}

// validateBindingAccess rejects a paramRef unless the user may read the params. Like
// kube-apiserver, it authorizes every write of a binding with params, also if the reference does
// not change.
func validateBindingAccess(ctx context.Context, v registry.Validation, errs field.ErrorList) field.ErrorList {
	policies, policy, ref := boundTo(v.Obj)
	if len(errs) > 0 || v.Subresource != "" || ref == nil {
		return errs
	}
	access := paramAccess{verb: "get", namespace: ref.Namespace, name: ref.Name}
	if ref.Name == "" {
		access.verb = "list"
	}
	access.resolveByPolicy(ctx, v.Catalog, policies, policy)
	allowed, err := access.authorize(ctx, v.Catalog.Authorizer())
	if err != nil {
		err = fmt.Errorf("failed to authorize request: %w", err)
	} else if !allowed {
		err = access.forbidden(ctx, policies)
	}
	if err != nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "paramRef"), err.Error()))
	}
	return errs
}

func paramKindOf(obj runtime.Object) *admissionregistrationv1.ParamKind {
	switch p := obj.(type) {
	case *admissionregistrationv1.ValidatingAdmissionPolicy:
		return p.Spec.ParamKind
	case *admissionregistrationv1.MutatingAdmissionPolicy:
		return p.Spec.ParamKind
	}
	return nil
}

// boundTo returns the policy of a binding, by resource and name, and its params.
func boundTo(obj runtime.Object) (policies schema.GroupResource, policy string, ref *admissionregistrationv1.ParamRef) {
	switch b := obj.(type) {
	case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
		return validatingPolicies, b.Spec.PolicyName, b.Spec.ParamRef
	case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
		return mutatingPolicies, b.Spec.PolicyName, b.Spec.ParamRef
	}
	return schema.GroupResource{}, "", nil
}

// paramAccess is the access to params that a policy or a binding requires. Parts of the resource
// that cannot be resolved are "*".
type paramAccess struct {
	verb, namespace, name string
	resource              schema.GroupVersionResource
	// unresolved is the reason why the resource is unknown, as in the error text.
	unresolved string
}

var anyResource = schema.GroupVersionResource{Group: "*", Version: "*", Resource: "*"}

// resolve sets the resource of a kind of params.
func (a *paramAccess) resolve(catalog *registry.Catalog, kind *admissionregistrationv1.ParamKind) {
	a.resource = anyResource
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		a.unresolved = "unable to parse paramKind " + shownKind(kind)
		return
	}
	a.resource = gv.WithResource("*")
	served, _, ok := catalog.Snapshot().OfKind(gv.WithKind(kind.Kind))
	if !ok {
		a.unresolved = "unable to resolve paramKind " + shownKind(kind)
		return
	}
	a.resource.Resource = served.Resource().Name
}

// resolveByPolicy sets the resource of the params of a policy.
func (a *paramAccess) resolveByPolicy(ctx context.Context, catalog *registry.Catalog, policies schema.GroupResource, name string) {
	a.resource = anyResource
	policy, err := readPolicy(ctx, catalog, policies, name)
	switch {
	case err != nil:
		a.unresolved = "unable to get policy " + name
	case paramKindOf(policy) != nil:
		a.resolve(catalog, paramKindOf(policy))
	}
}

func readPolicy(ctx context.Context, lookup registry.Lookup, policies schema.GroupResource, name string) (runtime.Object, error) {
	store, ok := lookup.Store(policies)
	if !ok {
		return nil, apierrors.NewNotFound(policies, name)
	}
	entry, err := store.Get(ctx, "", name, "")
	if err != nil {
		return nil, err
	}
	return entry.Object()
}

func (a *paramAccess) authorize(ctx context.Context, authorizer registry.Authorizer) (bool, error) {
	decision, err := authorizer.Authorize(ctx, registry.Access{
		User: registry.UserFrom(ctx),
		Resource: &authorizationv1.ResourceAttributes{
			Verb: a.verb, Namespace: a.namespace, Name: a.name,
			Group: a.resource.Group, Version: a.resource.Version, Resource: a.resource.Resource,
		},
	})
	if decision.Allowed {
		return true, nil
	}
	return false, err
}

// forbidden returns the error of kube-apiserver for a binding. Its text for mutating policies has
// user and verb in the wrong order.
func (a *paramAccess) forbidden(ctx context.Context, policies schema.GroupResource) error {
	info := expression.UserInfo(registry.UserFrom(ctx))
	switch {
	case a.unresolved != "":
		return fmt.Errorf(`%s to determine minimum required permissions and user %v does not have "%v" permission for all groups, versions and resources`,
			a.unresolved, info, a.verb)
	case policies == mutatingPolicies:
		return fmt.Errorf(`user %v does not have "%v" permission on the object referenced by paramRef`, a.verb, info)
	}
	return fmt.Errorf(`user %v does not have "%v" permission on the object referenced by paramRef`, info, a.verb)
}

// shownKind returns the kind as kube-apiserver prints it.
func shownKind(kind *admissionregistrationv1.ParamKind) string {
	return fmt.Sprintf("&{%s %s}", kind.APIVersion, kind.Kind)
}
