package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// NamespaceLifecycle rejects the creation of objects in namespaces that do not exist or are being
// deleted, and the deletion of immortal namespaces. The step reads the resource "namespaces" of the
// catalog, with the hub type corev1.Namespace. Without this resource it admits everything.
func NamespaceLifecycle() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "NamespaceLifecycle", Admit: admitNamespace}
}

func admitNamespace(ctx context.Context, a *registry.Attributes) error {
	resource := a.Resource.GroupResource()
	switch {
	case resource == namespaces() && a.Operation == registry.OperationDelete && immortal(a.Name):
		return apierrors.NewForbidden(resource, a.Name, errors.New("this namespace may not be deleted"))
	case resource == namespaces(), a.Operation != registry.OperationCreate, a.Namespace == "":
		return nil
	case resource == accessReviews():
		// An error would reveal to unauthorized users whether the namespace exists.
		return nil
	}
	store, ok := a.Catalog.Store(namespaces())
	if !ok {
		return nil
	}
	namespace, err := getObject[*corev1.Namespace](ctx, store, "", a.Namespace)
	if err != nil {
		return err
	}
	if namespace.Status.Phase == corev1.NamespaceTerminating {
		return terminating(a)
	}
	return nil
}

func terminating(a *registry.Attributes) error {
	err := forbidden(a, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace),
		Field:   "metadata.namespace",
	})
	return err
}

func immortal(namespace string) bool {
	return slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, namespace)
}

func namespaces() schema.GroupResource { return schema.GroupResource{Resource: "namespaces"} }

func accessReviews() schema.GroupResource {
	return schema.GroupResource{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}
}
