package plugin

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/registry"
)

// PersistentVolumeClaimResize lets claims grow if their storage class says that
// volumes can: that they are bound is a matter of validation. It needs a resource
// "storageclasses" in the same catalog.
func PersistentVolumeClaimResize() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PersistentVolumeClaimResize", Validate: checkClaimResize}
}

func checkClaimResize(ctx context.Context, a *registry.Attributes) error {
	claim, old, ok := updated[*corev1.PersistentVolumeClaim](a)
	if !ok || sizeOf(claim).Cmp(*sizeOf(old)) <= 0 {
		return nil
	}
	grows, err := expandable(ctx, a, claim, old)
	if err != nil {
		return err
	}
	if !grows {
		return forbidden(a, errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"))
	}
	return nil
}

func expandable(ctx context.Context, a *registry.Attributes, claim, old *corev1.PersistentVolumeClaim) (bool, error) {
	name := classOf(claim)
	store, ok := a.Store.Sibling(storagev1.Resource("storageclasses"))
	if !ok || name == "" || name != classOf(old) {
		return false, nil
	}
	class, err := find[*storagev1.StorageClass](ctx, store, "", name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return ptr.Deref(class.AllowVolumeExpansion, false), nil
}

func sizeOf(claim *corev1.PersistentVolumeClaim) *resource.Quantity {
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return &size
}
