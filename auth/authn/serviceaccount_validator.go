package authn

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// errInvalidated is the error of a token whose bound object is gone. The client sees no reason.
var errInvalidated = errors.New("service account token has been invalidated")

// validate returns the user of a token. It returns an error if the service account or an object
// that the token is bound to does not exist anymore.
func (s *ServiceAccounts) validate(ctx context.Context, content *claims) (*authenticationv1.UserInfo, error) {
	bound := content.Kubernetes
	if err := checkAccountName(bound.Namespace, bound.ServiceAccount.Name); err != nil {
		return nil, err
	}
	account, err := s.get(ctx, "serviceaccounts", bound.Namespace, &bound.ServiceAccount)
	if err != nil {
		return nil, err
	}
	if string(account.GetUID()) != bound.ServiceAccount.UID {
		return nil, fmt.Errorf("service account UID (%s) does not match claim (%s)", account.GetUID(), bound.ServiceAccount.UID)
	}
	if s.isDeleted(account) {
		return nil, fmt.Errorf("service account %s/%s has been deleted", bound.Namespace, bound.ServiceAccount.Name)
	}
	if err := s.checkBound(ctx, "secrets", "secret", bound.Namespace, bound.Secret); err != nil {
		return nil, err
	}
	if err := s.checkBound(ctx, "pods", "pod", bound.Namespace, bound.Pod); err != nil {
		return nil, err
	}
	if bound.Pod == nil { // the node of a pod can be deleted before the pod
		if err := s.checkBound(ctx, "nodes", "node", "", bound.Node); err != nil {
			return nil, err
		}
	}
	if bound.ValidatingWebhook != nil || bound.MutatingWebhook != nil {
		return nil, errors.New(`feature gate "APIServerWebhookAuthenticationToken" is disabled, but token is webhook bound`)
	}
	return userOf(content), nil
}

// checkAccountName returns an error for the name of a service account that cannot exist, in the
// words of kube-apiserver.
func checkAccountName(namespace, name string) error {
	inNamespace, inName := path.IsValidPathSegmentName(namespace), path.IsValidPathSegmentName(name)
	switch {
	case len(inNamespace) > 0:
		return fmt.Errorf("invalid namespace %q: %v", namespace, inNamespace)
	case name == "":
		return errors.New("resource name may not be empty")
	case len(inName) > 0:
		return fmt.Errorf("invalid resource name %q: %v", name, inName)
	case namespace == "":
		return errors.New("the server could not find the requested resource")
	default:
		return nil
	}
}

// checkBound checks that an object that a token is bound to exists. ref is nil if the token is not
// bound to an object of this kind.
func (s *ServiceAccounts) checkBound(ctx context.Context, resource, kind, namespace string, ref *reference) error {
	if ref == nil {
		return nil
	}
	if ref.Name == "" {
		return errInvalidated
	}
	object, err := s.get(ctx, resource, namespace, ref)
	switch {
	case apierrors.IsNotFound(err):
		return errInvalidated
	case err != nil:
		return err
	case string(object.GetUID()) != ref.UID:
		return fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", kind, object.GetUID(), kind, ref.UID)
	case s.isDeleted(object):
		return errInvalidated
	default:
		return nil
	}
}

// get returns an object from the watch cache. If the cache does not have it or has another UID, a
// consistent read decides.
func (s *ServiceAccounts) get(ctx context.Context, resource, namespace string, ref *reference) (metav1.Object, error) {
	store, ok := s.config.Store(corev1.Resource(resource))
	if !ok {
		return nil, fmt.Errorf("resource %s is not served", resource)
	}
	object, err := read(ctx, store, namespace, ref.Name, "0")
	if apierrors.IsNotFound(err) || err == nil && string(object.GetUID()) != ref.UID {
		object, err = read(ctx, store, namespace, ref.Name, "")
	}
	return object, err
}

func read(ctx context.Context, reader registry.Reader, namespace, name, version string) (metav1.Object, error) {
	entry, err := reader.Get(ctx, namespace, name, version)
	if err != nil {
		return nil, err
	}
	obj, err := entry.Object()
	if err != nil {
		return nil, err
	}
	return meta.Accessor(obj)
}

// isDeleted reports whether an object has been terminating for longer than leeway.
func (s *ServiceAccounts) isDeleted(object metav1.Object) bool {
	deleted := object.GetDeletionTimestamp()
	return deleted != nil && deleted.Time.Before(s.config.Now().Add(-leeway))
}

// credentialID returns the name of a token in the extra values of its user and in the audit log.
func credentialID(id string) string { return "JTI=" + id }

func userOf(content *claims) *authenticationv1.UserInfo {
	bound := content.Kubernetes
	user := &authenticationv1.UserInfo{
		Username: userNameOf(bound.Namespace, bound.ServiceAccount.Name),
		UID:      bound.ServiceAccount.UID,
		Groups:   serviceAccountGroups(bound.Namespace),
		Extra:    map[string]authenticationv1.ExtraValue{},
	}
	if content.ID != "" {
		user.Extra[credentialIDExtra] = authenticationv1.ExtraValue{credentialID(content.ID)}
	}
	for kind, object := range map[string]*reference{"pod": bound.Pod, "node": bound.Node} {
		if object == nil {
			continue
		}
		user.Extra[extraPrefix+kind+"-name"] = authenticationv1.ExtraValue{object.Name}
		if object.UID != "" {
			user.Extra[extraPrefix+kind+"-uid"] = authenticationv1.ExtraValue{object.UID}
		}
	}
	return user
}
