package plugin

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/internal/quota"
	"github.com/miniapi/miniapi/registry"
)

// PersistentVolumeClaimResize rejects the growth of a claim unless its storage class allows volume
// expansion. Validation checks that the claim is bound. The step reads the resource
// "storageclasses" of the catalog.
func PersistentVolumeClaimResize() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PersistentVolumeClaimResize", Validate: checkClaimResize}
}

func checkClaimResize(ctx context.Context, a *registry.Attributes) error {
	claim, old, ok := updated[*corev1.PersistentVolumeClaim](a)
	if !ok || sizeOf(claim).Cmp(*sizeOf(old)) <= 0 {
		return nil
	}
	resizable, err := expandable(ctx, a, claim, old)
	if err != nil {
		return err
	}
	if !resizable {
		return forbidden(a, errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"))
	}
	return nil
}

// expandable reports whether the storage class of a claim allows volume expansion.
func expandable(ctx context.Context, a *registry.Attributes, claim, old *corev1.PersistentVolumeClaim) (bool, error) {
	name := quota.StorageClassOf(claim)
	store, ok := a.Catalog.Store(storagev1.Resource("storageclasses"))
	if !ok || name == "" || name != quota.StorageClassOf(old) {
		return false, nil
	}
	class, err := getObject[*storagev1.StorageClass](ctx, store, "", name)
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
