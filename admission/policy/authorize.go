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
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/miniapi/miniapi/registry"
)

// validatePolicyAccess lets those name a paramKind who may get all objects of it: expressions
// of the policy can show params.
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
	needed := paramAccess{verb: "get", namespace: "*", name: "*"}
	needed.find(v.Store, kind)
	allowed, err := needed.authorize(ctx, v.Store)
	if err == nil && !allowed {
		err = fmt.Errorf(`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`,
			shownUser(ctx), kind.Kind, kind.APIVersion)
	}
	if err != nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "paramKind"), err.Error()))
	}
	return errs
}

// validateBindingAccess lets those refer to params who may read them. Like kube-apiserver, it
// authorizes each write of a binding with params again.
func validateBindingAccess(ctx context.Context, v registry.Validation, errs field.ErrorList) field.ErrorList {
	policies, policy, ref := boundTo(v.Obj)
	if len(errs) > 0 || v.Subresource != "" || ref == nil {
		return errs
	}
	needed := paramAccess{verb: "get", namespace: ref.Namespace, name: ref.Name}
	if ref.Name == "" {
		needed.verb = "list"
	}
	needed.findBy(ctx, v.Store, policies, policy)
	allowed, err := needed.authorize(ctx, v.Store)
	if err != nil {
		err = fmt.Errorf("failed to authorize request: %w", err)
	} else if !allowed {
		err = needed.refusal(ctx, policies)
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

// paramAccess is the access to params that a policy or a binding needs. As long as a part of
// the resource is not known, access to all resources is needed.
type paramAccess struct {
	verb, namespace, name string
	resource              schema.GroupVersionResource
	// unknown says why the resource is not known, in the text of the refusal.
	unknown string
}

var anyResource = schema.GroupVersionResource{Group: "*", Version: "*", Resource: "*"}

// find sets the resource of a kind of params.
func (a *paramAccess) find(from *registry.Store, kind *admissionregistrationv1.ParamKind) {
	a.resource = anyResource
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		a.unknown = "unable to parse paramKind " + shownKind(kind)
		return
	}
	a.resource = gv.WithResource("*")
	store, _, ok := from.OfKind(gv.WithKind(kind.Kind))
	if !ok {
		a.unknown = "unable to resolve paramKind " + shownKind(kind)
		return
	}
	a.resource.Resource = store.Resource().Name
}

// findBy sets the resource that a policy names.
func (a *paramAccess) findBy(ctx context.Context, from *registry.Store, policies schema.GroupResource, name string) {
	a.resource = anyResource
	policy, err := readPolicy(ctx, from, policies, name)
	switch {
	case err != nil:
		a.unknown = "unable to get policy " + name
	case paramKindOf(policy) != nil:
		a.find(from, paramKindOf(policy))
	}
}

func readPolicy(ctx context.Context, from *registry.Store, policies schema.GroupResource, name string) (runtime.Object, error) {
	store, ok := from.Sibling(policies)
	if !ok {
		return nil, apierrors.NewNotFound(policies, name)
	}
	entry, err := store.Get(ctx, "", name, "")
	if err != nil {
		return nil, err
	}
	return entry.Object()
}

func (a *paramAccess) authorize(ctx context.Context, store *registry.Store) (bool, error) {
	decision, err := store.Authorizer().Authorize(ctx, registry.Access{
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

// refusal is the text of kube-apiserver for a binding, which has user and verb in the wrong
// order for policies that mutate.
func (a *paramAccess) refusal(ctx context.Context, policies schema.GroupResource) error {
	who := shownUser(ctx)
	switch {
	case a.unknown != "":
		return fmt.Errorf(`%s to determine minimum required permissions and user %v does not have "%v" permission for all groups, versions and resources`,
			a.unknown, who, a.verb)
	case policies == mutatingPolicies:
		return fmt.Errorf(`user %v does not have "%v" permission on the object referenced by paramRef`, a.verb, who)
	}
	return fmt.Errorf(`user %v does not have "%v" permission on the object referenced by paramRef`, who, a.verb)
}

// shownKind is the kind as kube-apiserver prints it.
func shownKind(kind *admissionregistrationv1.ParamKind) string {
	return fmt.Sprintf("&{%s %s}", kind.APIVersion, kind.Kind)
}

// shownUser is the user as kube-apiserver prints it.
func shownUser(ctx context.Context) *user.DefaultInfo {
	shown := &user.DefaultInfo{}
	from := registry.UserFrom(ctx)
	if from == nil {
		return shown
	}
	shown.Name, shown.UID, shown.Groups = from.Username, from.UID, from.Groups
	for key, values := range from.Extra {
		if shown.Extra == nil {
			shown.Extra = map[string][]string{}
		}
		shown.Extra[key] = values
	}
	return shown
}
