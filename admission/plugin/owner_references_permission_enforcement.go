package plugin

import (
	"context"
	"fmt"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// OwnerReferencesPermissionEnforcement rejects a change of the owner references of an object that
// the user may not delete, and a reference with blockOwnerDeletion to an owner whose finalizers the
// user may not update. The status of pods is exempt, as in kube-apiserver.
func OwnerReferencesPermissionEnforcement() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "OwnerReferencesPermissionEnforcement", Validate: checkOwnerReferences}
}

func checkOwnerReferences(ctx context.Context, a *registry.Attributes) error {
	user := registry.UserFrom(ctx)
	if user == nil || a.Operation != registry.OperationCreate && a.Operation != registry.OperationUpdate ||
		a.Resource.GroupResource() == corev1.Resource("pods") && a.Subresource == "status" {
		return nil
	}
	owners, former := ownersOf(a.Object), ownersOf(a.OldObject)
	if equality.Semantic.DeepEqual(owners, former) {
		return nil
	}
	may := func(attributes *authorizationv1.ResourceAttributes) (registry.Decision, error) {
		return a.Catalog.Authorizer().Authorize(ctx, registry.Access{User: user, Resource: attributes})
	}
	if a.Operation == registry.OperationUpdate {
		if decision, err := may(deletionOf(a)); !decision.Allowed {
			return forbidden(a, fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, %v", decision.Reason, err))
		}
	}
	blocking := newBlockingOwners(owners, former)
	if len(blocking) == 0 {
		return nil
	}
	if decision, _ := may(finalizersOf("*", "*", "*", "*")); decision.Allowed {
		return nil
	}
	for _, owner := range blocking {
		access, err := finalizersOfOwner(a, owner)
		if err != nil {
			return forbidden(a, fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %s Kind %s: %w",
				owner.APIVersion, owner.Kind, err))
		}
		if decision, err := may(access); !decision.Allowed {
			return forbidden(a, fmt.Errorf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: %v, %v",
				decision.Reason, err))
		}
	}
	return nil
}

// ownersOf returns the owner references of an object, none without an object or metadata.
func ownersOf(obj runtime.Object) []metav1.OwnerReference {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return accessor.GetOwnerReferences()
}

// newBlockingOwners returns the owners with blockOwnerDeletion that were not blocked before.
func newBlockingOwners(owners, former []metav1.OwnerReference) []metav1.OwnerReference {
	blocks := func(owner metav1.OwnerReference) bool {
		return owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion
	}
	return slices.DeleteFunc(slices.Clone(owners), func(owner metav1.OwnerReference) bool {
		return !blocks(owner) || slices.ContainsFunc(former, func(f metav1.OwnerReference) bool { return f.UID == owner.UID && blocks(f) })
	})
}

// deletionOf returns the attributes of a deletion of the object of a write, in the version of the
// request.
func deletionOf(a *registry.Attributes) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Verb: "delete", Namespace: a.Namespace, Group: a.Resource.Group, Version: versionOf(a),
		Resource: a.Resource.Name, Subresource: a.Subresource, Name: a.Name,
	}
}

func finalizersOf(group, version, resource, name string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Verb: "update", Group: group, Version: version, Resource: resource, Subresource: "finalizers", Name: name,
	}
}

// finalizersOfOwner returns the attributes of an update of the finalizers of an owner, or a
// [meta.NoKindMatchError] if no server has its kind. A namespaced owner is in the namespace of the
// write.
func finalizersOfOwner(a *registry.Attributes, owner metav1.OwnerReference) (*authorizationv1.ResourceAttributes, error) {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return nil, err
	}
	resource, namespaced, ok := resourceOfKind(a.Catalog.Snapshot(), gv.WithKind(owner.Kind))
	if !ok {
		return nil, &meta.NoKindMatchError{GroupKind: gv.WithKind(owner.Kind).GroupKind(), SearchedVersions: []string{gv.Version}}
	}
	access := finalizersOf(gv.Group, gv.Version, resource, owner.Name)
	if namespaced {
		access.Namespace = a.Namespace
	}
	return access, nil
}

// resourceOfKind returns the name of the resource of a kind in discovery, and whether it is
// namespaced. The resource may belong to an aggregated server.
func resourceOfKind(snapshot *registry.Snapshot, kind schema.GroupVersionKind) (name string, namespaced, ok bool) {
	if remote, ok := snapshot.Remote(kind.GroupVersion()); ok {
		for _, r := range remote.Resources {
			if r.ResponseKind != nil && r.ResponseKind.Kind == kind.Kind {
				return r.Resource, r.Scope == apidiscoveryv2.ScopeNamespace, true
			}
		}
		return "", false, false
	}
	served, _, ok := snapshot.OfKind(kind)
	if !ok {
		return "", false, false
	}
	return served.Resource().Name, served.Resource().Namespaced, true
}
