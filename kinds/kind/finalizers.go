package kind

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateFinalizers requires each finalizer to be a standard one or a qualified name. Build calls
// it for all writes. Kinds call it only to report its errors a second time, or in another place, as
// kube-apiserver does.
func ValidateFinalizers(obj metav1.Object) field.ErrorList {
	var errs field.ErrorList
	for i, name := range obj.GetFinalizers() {
		errs = append(errs, ValidateFinalizer(name, field.NewPath("metadata", "finalizers").Index(i))...)
	}
	return errs
}

// ValidateFinalizer requires a standard finalizer or a qualified name.
func ValidateFinalizer(name string, at *field.Path) field.ErrorList {
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return nil
	}
	if strings.Contains(name, "/") {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified")}
}
