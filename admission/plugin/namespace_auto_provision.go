package plugin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// NamespaceAutoProvision creates the namespace of a new object, unless it exists or the creation is
// a dry run. The step reads and writes the resource "namespaces" of the catalog, as the user
// system:apiserver.
func NamespaceAutoProvision() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "NamespaceAutoProvision", Admit: provideNamespace}
}

func provideNamespace(ctx context.Context, a *registry.Attributes) error {
	if a.Operation != registry.OperationCreate || a.Options.DryRun || a.Namespace == "" || a.Resource.GroupResource() == namespaces() {
		return nil
	}
	store, err := registry.Require(a.Catalog, namespaces())
	if err != nil {
		return err
	}
	if _, err = getObject[*corev1.Namespace](ctx, store, "", a.Namespace); apierrors.IsNotFound(err) {
		err = createNamespace(ctx, store, a.Namespace)
	}
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsForbidden(err):
		return err
	default:
		return forbidden(a, err)
	}
}

// createNamespace creates a namespace like a request of its own, whose warnings and audit
// annotations are not those of the write.
func createNamespace(ctx context.Context, store *registry.Store, name string) error {
	ctx, _ = registry.WithWarnings(registry.WithServerUser(ctx))
	ctx, _ = registry.WithAuditAnnotations(ctx)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	store.Resource().Versions[0].SetDefaults(namespace, store.Catalog().Now)
	_, err := store.Create(ctx, registry.CreateRequest{Object: namespace, Options: registry.WriteOptions{FieldManager: "kube-apiserver"}})
	return err
}
