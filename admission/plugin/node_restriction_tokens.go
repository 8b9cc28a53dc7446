package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// token allows tokens of service accounts that are bound to a pod of the node.
func (w nodeWrite) token(ctx context.Context) error {
	request, ok := w.Object.(*authenticationv1.TokenRequest)
	if !ok || w.Operation != registry.OperationCreate || w.Subresource != "token" {
		return nil
	}
	ref := request.Spec.BoundObjectRef
	if ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "" {
		return w.forbid("node requested token not bound to a pod")
	}
	if ref.UID == "" {
		return w.forbid("node requested token with a pod binding without a uid")
	}
	pod, err := readFor[*corev1.Pod](ctx, w, corev1.Resource("pods"), w.Namespace, ref.Name)
	switch {
	case apierrors.IsNotFound(err):
		return err
	case err != nil:
		return w.forbid("%w", err)
	case ref.UID != pod.UID:
		return w.forbid("the UID in the bound object reference (%s) does not match the UID in record. "+
			"The object might have been deleted and then recreated", ref.UID)
	case pod.Spec.NodeName != w.node:
		return w.forbid("node requested token bound to a pod scheduled on a different node")
	case !w.features.Enabled(feature.ServiceAccountNodeAudienceRestriction):
		return nil
	}
	if err := w.checkAudience(ctx, request.Spec.Audiences, pod); err != nil {
		return forbidden(w.Attributes, err)
	}
	return nil
}

// checkAudience requires that a volume of the pod needs the audience, or that the node is
// authorized for it.
func (w nodeWrite) checkAudience(ctx context.Context, audiences []string, pod *corev1.Pod) error {
	if len(audiences) > 1 {
		return errors.New("node may only request 0 or 1 audiences")
	}
	audience := strings.Join(audiences, "")
	needed, err := w.needsAudience(ctx, pod, audience)
	if err != nil {
		return fmt.Errorf("error validating audience %q: %w", audience, err)
	}
	if needed {
		return nil
	}
	user := registry.UserFrom(ctx).Username
	allowed, err := w.authorized(ctx, "request-serviceaccounts-token-audience", audience, w.Name)
	switch {
	case allowed:
		return nil
	case err != nil:
		return fmt.Errorf("error authorizing %s to request tokens for audience %q: %w", user, audience, err)
	}
	return fmt.Errorf("%s is not authorized to request tokens for audience %q", user, audience)
}

// authorized reports whether the node has the permission for a verb on a resource, whose name is
// the subject of the permission.
func (w nodeWrite) authorized(ctx context.Context, verb, resource, name string) (bool, error) {
	decision, err := w.Catalog.Authorizer().Authorize(ctx, registry.Access{
		User: registry.UserFrom(ctx),
		Resource: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: w.Resource.Group, Version: versionOf(w.Attributes),
			Resource: resource, Namespace: w.Namespace, Name: name,
		},
	})
	return decision.Allowed, err
}
