package kind

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Finalizers looks at who keeps an object from going. It comes on top of what
// holds for all objects: not every kind is that strict.
func Finalizers(obj metav1.Object) field.ErrorList {
	var errs field.ErrorList
	for i, name := range obj.GetFinalizers() {
		errs = append(errs, Finalizer(name, field.NewPath("metadata", "finalizers").Index(i))...)
	}
	return errs
}

// Finalizer wants somebody's domain before the name of what is not Kubernetes'
// own.
func Finalizer(name string, at *field.Path) field.ErrorList {
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return nil
	}
	if strings.Contains(name, "/") {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified")}
}
