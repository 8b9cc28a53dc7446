package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateNamespace reports the list of finalizers without an index, as kube-apiserver does for new
// namespaces.
func validateNamespace(n *corev1.Namespace) field.ErrorList {
	var errs field.ErrorList
	for _, finalizer := range n.Spec.Finalizers {
		errs = append(errs, validateFinalizer(finalizer, field.NewPath("spec", "finalizers"))...)
	}
	return errs
}

func validateFinalize(n, _ *corev1.Namespace) field.ErrorList {
	var errs field.ErrorList
	for i, finalizer := range n.Spec.Finalizers {
		errs = append(errs, validateFinalizer(finalizer, field.NewPath("spec", "finalizers").Index(i))...)
	}
	return errs
}

func validateFinalizer(name corev1.FinalizerName, at *field.Path) field.ErrorList {
	errs := validation.ValidateFinalizerName(string(name), at)
	return append(errs, kind.ValidateFinalizer(string(name), at)...)
}

func validateNamespaceStatus(n, _ *corev1.Namespace) field.ErrorList {
	path := field.NewPath("status", "Phase")
	var errs field.ErrorList
	switch {
	case n.DeletionTimestamp.IsZero() && n.Status.Phase != corev1.NamespaceActive:
		errs = append(errs, field.Invalid(path, n.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty"))
	case !n.DeletionTimestamp.IsZero() && n.Status.Phase != corev1.NamespaceTerminating:
		errs = append(errs, field.Invalid(path, n.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"))
	}
	return errs
}
