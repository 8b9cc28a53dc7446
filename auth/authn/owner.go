package authn

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// errInvalidated is all that a client learns of why a token is over.
var errInvalidated = errors.New("service account token has been invalidated")

// owner returns the account that a token belongs to, if that and all that the
// token is bound to still live.
func (s *ServiceAccounts) owner(ctx context.Context, content *claims) (*authenticationv1.UserInfo, error) {
	bound := content.Kubernetes
	account, err := s.find(ctx, "serviceaccounts", bound.Namespace, bound.ServiceAccount)
	if err != nil {
		return nil, err
	}
	if s.isGone(account) {
		return nil, fmt.Errorf("service account %s/%s has been deleted", bound.Namespace, bound.ServiceAccount.Name)
	}
	if string(account.GetUID()) != bound.ServiceAccount.UID {
		return nil, fmt.Errorf("service account UID (%s) does not match claim (%s)", account.GetUID(), bound.ServiceAccount.UID)
	}
	if err := s.checkBound(ctx, "secrets", "secret", bound.Namespace, bound.Secret); err != nil {
		return nil, err
	}
	if err := s.checkBound(ctx, "pods", "pod", bound.Namespace, bound.Pod); err != nil {
		return nil, err
	}
	if bound.Pod == nil { // the node of a pod may go before the pod does
		if err := s.checkBound(ctx, "nodes", "node", "", bound.Node); err != nil {
			return nil, err
		}
	}
	return userOf(content), nil
}

// checkBound expects an object that a token is bound to; nil: it is not.
func (s *ServiceAccounts) checkBound(ctx context.Context, resource, kind, namespace string, wanted *reference) error {
	if wanted == nil {
		return nil
	}
	object, err := s.find(ctx, resource, namespace, wanted)
	if apierrors.IsNotFound(err) {
		return errInvalidated
	}
	if err != nil {
		return err
	}
	if s.isGone(object) {
		return errInvalidated
	}
	if string(object.GetUID()) != wanted.UID {
		return fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", kind, object.GetUID(), kind, wanted.UID)
	}
	return nil
}

// find reads what is at hand. That something is not there, or is another
// incarnation, counts only if a consistent read says so too.
func (s *ServiceAccounts) find(ctx context.Context, resource, namespace string, wanted *reference) (metav1.Object, error) {
	store, ok := s.config.Store(corev1.Resource(resource))
	if !ok {
		return nil, fmt.Errorf("this server has no %s", resource)
	}
	object, err := read(ctx, store, namespace, wanted.Name, "0")
	if apierrors.IsNotFound(err) || err == nil && string(object.GetUID()) != wanted.UID {
		object, err = read(ctx, store, namespace, wanted.Name, "")
	}
	return object, err
}

func read(ctx context.Context, store *registry.Store, namespace, name, version string) (metav1.Object, error) {
	entry, err := store.Get(ctx, namespace, name, version)
	if err != nil {
		return nil, err
	}
	obj, err := entry.Object()
	if err != nil {
		return nil, err
	}
	return meta.Accessor(obj)
}

func (s *ServiceAccounts) isGone(object metav1.Object) bool {
	deleted := object.GetDeletionTimestamp()
	return deleted != nil && deleted.Time.Before(s.config.Now().Add(-leeway))
}

func userOf(content *claims) *authenticationv1.UserInfo {
	bound := content.Kubernetes
	user := &authenticationv1.UserInfo{
		Username: userNameOf(bound.Namespace, bound.ServiceAccount.Name),
		UID:      bound.ServiceAccount.UID,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + bound.Namespace},
		Extra:    map[string]authenticationv1.ExtraValue{},
	}
	if content.ID != "" {
		user.Extra[credentialIDExtra] = authenticationv1.ExtraValue{"JTI=" + content.ID}
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
