package plugin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// NamespaceExists rejects all writes in a namespace that does not exist, also those that
// [NamespaceLifecycle] admits: updates, deletions and LocalSubjectAccessReviews. The step reads the
// resource "namespaces" of the catalog.
func NamespaceExists() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "NamespaceExists", Validate: checkNamespace}
}

func checkNamespace(ctx context.Context, a *registry.Attributes) error {
	if a.Operation == registry.OperationConnect || a.Namespace == "" || a.Resource.GroupResource() == namespaces() {
		return nil
	}
	_, err := namespaceOf(ctx, a)
	return err
}

// namespaceOf returns the namespace of a write, or a 404 if it does not exist. Any other error is a
// 500.
func namespaceOf(ctx context.Context, a *registry.Attributes) (*corev1.Namespace, error) {
	store, err := registry.Require(a.Catalog, namespaces())
	if err != nil {
		return nil, err
	}
	namespace, err := getObject[*corev1.Namespace](ctx, store, "", a.Namespace)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, apierrors.NewInternalError(err)
	}
	return namespace, err
}
