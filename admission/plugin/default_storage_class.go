package plugin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/registry"
)

// DefaultStorageClass sets the class of new claims without one to the default class, the newest if
// there are several. The step reads the resource "storageclasses" of the catalog.
func DefaultStorageClass() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "DefaultStorageClass", Admit: defaultStorageClass}
}

func defaultStorageClass(ctx context.Context, a *registry.Attributes) error {
	claim, ok := created[*corev1.PersistentVolumeClaim](a)
	if !ok || claim.Spec.StorageClassName != nil {
		return nil
	}
	if _, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return nil
	}
	classes, err := listObjects[*storagev1.StorageClass](ctx, a, storagev1.Resource("storageclasses"), "")
	if err != nil {
		return forbidden(a, err)
	}
	if class, ok := newest(classes, isDefaultStorageClass); ok {
		claim.Spec.StorageClassName = &class
	}
	return nil
}

func isDefaultStorageClass(class *storagev1.StorageClass) bool {
	return class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		class.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}
