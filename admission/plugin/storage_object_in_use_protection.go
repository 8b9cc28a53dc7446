package plugin

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// StorageObjectInUseProtection adds finalizers to new volumes, claims and volume attributes
// classes, so that they are not removed while in use.
func StorageObjectInUseProtection() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "StorageObjectInUseProtection", Admit: protectStorage}
}

func protectStorage(_ context.Context, a *registry.Attributes) error {
	obj, ok := created[metav1.Object](a)
	if !ok {
		return nil
	}
	var finalizer string
	switch obj.(type) {
	case *corev1.PersistentVolume:
		finalizer = "kubernetes.io/pv-protection"
	case *corev1.PersistentVolumeClaim:
		finalizer = "kubernetes.io/pvc-protection"
	case *storagev1.VolumeAttributesClass:
		finalizer = "kubernetes.io/vac-protection"
	default:
		return nil
	}
	if finalizers := obj.GetFinalizers(); !slices.Contains(finalizers, finalizer) {
		obj.SetFinalizers(append(finalizers, finalizer))
	}
	return nil
}
