package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
)

func claimColumns() []kind.Column[*corev1.PersistentVolumeClaim] {
	spec, status := corev1.PersistentVolumeClaimSpec{}.SwaggerDoc(), corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
	return []kind.Column[*corev1.PersistentVolumeClaim]{
		kind.NameColumn[*corev1.PersistentVolumeClaim](),
		kind.TextColumn("Status", status["phase"],
			func(c *corev1.PersistentVolumeClaim) any { return phaseCell(c, string(c.Status.Phase)) }),
		kind.TextColumn("Volume", spec["volumeName"],
			func(c *corev1.PersistentVolumeClaim) any { return c.Spec.VolumeName }),
		kind.TextColumn("Capacity", status["capacity"], claimCapacityCell),
		kind.TextColumn("Access Modes", status["accessModes"], claimModesCell),
		kind.TextColumn("StorageClass", "StorageClass of the pvc", func(c *corev1.PersistentVolumeClaim) any {
			return storageClassCell(c.Annotations, ptr.Deref(c.Spec.StorageClassName, ""))
		}),
		kind.TextColumn("VolumeAttributesClass", "VolumeAttributesClass of the pvc",
			func(c *corev1.PersistentVolumeClaim) any { return unsetCell(c.Spec.VolumeAttributesClassName) }),
		kind.AgeColumn[*corev1.PersistentVolumeClaim](),
		kind.WideColumn("VolumeMode", spec["volumeMode"],
			func(c *corev1.PersistentVolumeClaim) any { return volumeModeCell(c.Spec.VolumeMode) }),
	}
}

// claimCapacityCell is empty for a claim without a volume.
func claimCapacityCell(c *corev1.PersistentVolumeClaim) any {
	if c.Spec.VolumeName == "" {
		return ""
	}
	capacity := c.Status.Capacity[corev1.ResourceStorage]
	return capacity.String()
}

// claimModesCell is empty for a claim without a volume.
func claimModesCell(c *corev1.PersistentVolumeClaim) any {
	if c.Spec.VolumeName == "" {
		return ""
	}
	return accessModesCell(c.Status.AccessModes)
}
