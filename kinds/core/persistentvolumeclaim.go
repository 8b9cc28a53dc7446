package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func persistentVolumeClaims(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.PersistentVolumeClaim]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.PersistentVolumeClaim{},
		List:                     &corev1.PersistentVolumeClaimList{},
		Resource:                 "persistentvolumeclaims",
		GenerateNameOnUpdate:     true,
		ShortNames:               []string{"pvc"},
		Namespaced:               true,
		Status:                   true,
		Default:                  podspec.DefaultClaim,
		Restore:                  restoreClaim,
		Warnings:                 warningsForClaim,
		PrepareForCreate:         func(_ context.Context, c *corev1.PersistentVolumeClaim) { prepareClaim(c, features) },
		ValidateCreate:           validateClaim,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         func(_ context.Context, c, old *corev1.PersistentVolumeClaim) { prepareClaimUpdate(c, old, features) },
		ValidateUpdate:           validateClaimUpdate,
		ReturnDeletedObject:      true,
		ValidateStatusUpdate:     validateClaimStatus,
		GatedFields:              kind.Gated(feature.CSIVolumeHealth, "status.healthStatus"),
		Columns:                  claimColumns(),
	}.Build(features)
}
