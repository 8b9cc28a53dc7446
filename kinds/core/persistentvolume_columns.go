package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// accessModesCell shows each mode once, from the most restrictive to the least.
func accessModesCell(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, m := range []struct {
		mode corev1.PersistentVolumeAccessMode
		name string
	}{
		{corev1.ReadWriteOnce, "RWO"},
		{corev1.ReadOnlyMany, "ROX"},
		{corev1.ReadWriteMany, "RWX"},
		{corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			short = append(short, m.name)
		}
	}
	return strings.Join(short, ",")
}

// storageClassCell prefers the annotation of old clients, as binding does.
func storageClassCell(annotations map[string]string, class string) string {
	if name, ok := annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return class
}

// unsetCell shows an optional string.
func unsetCell(s *string) string {
	if s == nil {
		return "<unset>"
	}
	return *s
}

func volumeModeCell(mode *corev1.PersistentVolumeMode) string {
	if mode == nil {
		return "<unset>"
	}
	return string(*mode)
}

func volumeColumns() []kind.Column[*corev1.PersistentVolume] {
	spec, status := corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeStatus{}.SwaggerDoc()
	return []kind.Column[*corev1.PersistentVolume]{
		kind.NameColumn[*corev1.PersistentVolume](),
		kind.TextColumn("Capacity", spec["capacity"], func(v *corev1.PersistentVolume) any {
			capacity := v.Spec.Capacity[corev1.ResourceStorage]
			return capacity.String()
		}),
		kind.TextColumn("Access Modes", spec["accessModes"],
			func(v *corev1.PersistentVolume) any { return accessModesCell(v.Spec.AccessModes) }),
		kind.TextColumn("Reclaim Policy", spec["persistentVolumeReclaimPolicy"],
			func(v *corev1.PersistentVolume) any { return string(v.Spec.PersistentVolumeReclaimPolicy) }),
		kind.TextColumn("Status", status["phase"],
			func(v *corev1.PersistentVolume) any { return phaseCell(v, string(v.Status.Phase)) }),
		kind.TextColumn("Claim", spec["claimRef"],
			func(v *corev1.PersistentVolume) any { return claimRefCell(v.Spec.ClaimRef) }),
		kind.TextColumn("StorageClass", "StorageClass of the pv",
			func(v *corev1.PersistentVolume) any { return storageClassCell(v.Annotations, v.Spec.StorageClassName) }),
		kind.TextColumn("VolumeAttributesClass", "VolumeAttributesClass of the pv",
			func(v *corev1.PersistentVolume) any { return unsetCell(v.Spec.VolumeAttributesClassName) }),
		kind.TextColumn("Reason", status["reason"], func(v *corev1.PersistentVolume) any { return v.Status.Reason }),
		kind.AgeColumn[*corev1.PersistentVolume](),
		kind.WideColumn("VolumeMode", spec["volumeMode"],
			func(v *corev1.PersistentVolume) any { return volumeModeCell(v.Spec.VolumeMode) }),
	}
}

func claimRefCell(ref *corev1.ObjectReference) string {
	if ref == nil {
		return ""
	}
	return ref.Namespace + "/" + ref.Name
}

// phaseCell returns the phase of a volume or a claim, or Terminating once it is deleted.
func phaseCell(obj metav1.Object, phase string) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}
