package core

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// bindToken binds the lifetime of a token to the object that ref names; nil: to the account alone.
func bindToken(ctx context.Context, lookup registry.Lookup, claims *registry.TokenClaims, ref *authenticationv1.BoundObjectReference) error {
	if ref == nil {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	var err error
	var bound *registry.TokenObject
	switch kind.GroupKind() {
	case schema.GroupKind{Kind: "Pod"}:
		err = bindToPod(ctx, lookup, claims, ref.Name)
		bound = claims.Pod
	case schema.GroupKind{Kind: "Secret"}:
		bound, err = tokenObject[*corev1.Secret](ctx, lookup, "secrets", claims.Namespace, ref.Name)
		claims.Secret = bound
	case schema.GroupKind{Kind: "Node"}:
		bound, err = tokenObject[*corev1.Node](ctx, lookup, "nodes", "", ref.Name)
		claims.Node = bound
	default:
		if isWebhookReference(ref) {
			return apierrors.NewBadRequest(fmt.Sprintf(
				"cannot bind token to object of type %s (feature gate APIServerWebhookAuthenticationToken is disabled)", kind.String()))
		}
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", kind.String()))
	}
	if err != nil {
		return err
	}
	if ref.UID != "" && string(ref.UID) != bound.UID {
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, ref.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return nil
}

// isWebhookReference reports whether a token is requested for a webhook configuration.
func isWebhookReference(ref *authenticationv1.BoundObjectReference) bool {
	return ref != nil && ref.APIVersion == "admissionregistration.k8s.io/v1" &&
		(ref.Kind == "ValidatingWebhookConfiguration" || ref.Kind == "MutatingWebhookConfiguration")
}

// bindToPod adds the pod's node to the claims, without a uid if the node does not exist.
func bindToPod(ctx context.Context, lookup registry.Lookup, claims *registry.TokenClaims, name string) error {
	store, err := registry.Require(lookup, corev1.Resource("pods"))
	if err != nil {
		return err
	}
	pod, err := registry.Read[*corev1.Pod](ctx, store, claims.Namespace, name, "")
	if err != nil {
		return err
	}
	if pod.Spec.ServiceAccountName != claims.Account.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", claims.Account.Name))
	}
	claims.Pod = &registry.TokenObject{Name: pod.Name, UID: string(pod.UID)}
	if pod.Spec.NodeName == "" {
		return nil
	}
	claims.Node, err = tokenObject[*corev1.Node](ctx, lookup, "nodes", "", pod.Spec.NodeName)
	if apierrors.IsNotFound(err) {
		claims.Node, err = &registry.TokenObject{Name: pod.Spec.NodeName}, nil
	}
	return err
}

func tokenObject[T runtime.Object](ctx context.Context, lookup registry.Lookup, resource, namespace, name string) (*registry.TokenObject, error) {
	store, err := registry.Require(lookup, corev1.Resource(resource))
	if err != nil {
		return nil, err
	}
	obj, err := registry.Read[T](ctx, store, namespace, name, "")
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	return &registry.TokenObject{Name: name, UID: string(accessor.GetUID())}, nil
}
