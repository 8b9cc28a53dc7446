package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// NamespaceLifecycle ties objects to their namespace: nothing is created in one
// that does not exist or is being deleted, and the namespaces that every
// cluster has cannot be deleted. It needs a resource "namespaces" whose hub is
// corev1.Namespace in the same catalog; without one it admits everything.
func NamespaceLifecycle() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "NamespaceLifecycle", Admit: admitNamespace}
}

func admitNamespace(ctx context.Context, a *registry.Attributes) error {
	resource := a.Store.Resource().GroupResource()
	switch {
	case resource == namespaces() && a.Operation == registry.OperationDelete && immortal(a.Name):
		return apierrors.NewForbidden(resource, a.Name, errors.New("this namespace may not be deleted"))
	case resource == namespaces(), a.Operation != registry.OperationCreate, a.Namespace == "":
		return nil
	case resource == accessReviews():
		// An answer about the namespace would tell who may not know.
		return nil
	}
	store, ok := a.Store.Sibling(namespaces())
	if !ok {
		return nil
	}
	namespace, err := find(ctx, store, a.Namespace)
	if err != nil {
		return err
	}
	if namespace.Status.Phase == corev1.NamespaceTerminating {
		return terminating(a)
	}
	return nil
}

// find returns a namespace from what is at hand. That it is not there counts
// only if a consistent read says so too.
func find(ctx context.Context, store *registry.Store, name string) (*corev1.Namespace, error) {
	entry, err := store.Get(ctx, "", name, "0")
	if apierrors.IsNotFound(err) {
		entry, err = store.Get(ctx, "", name, "")
	}
	if err != nil {
		return nil, err
	}
	obj, err := entry.Object()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	namespace, ok := obj.(*corev1.Namespace)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("namespace %s is stored as %T", name, obj))
	}
	return namespace, nil
}

func terminating(a *registry.Attributes) error {
	err := apierrors.NewForbidden(a.Store.Resource().GroupResource(), nameOf(a),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace),
		Field:   "metadata.namespace",
	})
	return err
}

// nameOf names an object that may not have a name yet.
func nameOf(a *registry.Attributes) string {
	if a.Name != "" {
		return a.Name
	}
	accessor, err := meta.Accessor(a.Object)
	switch {
	case err != nil:
		return "Unknown/errorGettingName"
	case accessor.GetName() != "":
		return accessor.GetName()
	case accessor.GetGenerateName() != "":
		return accessor.GetGenerateName()
	default:
		return "Unknown"
	}
}

func immortal(namespace string) bool {
	return slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, namespace)
}

func namespaces() schema.GroupResource { return schema.GroupResource{Resource: "namespaces"} }

func accessReviews() schema.GroupResource {
	return schema.GroupResource{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}
}
