package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func defaultPersistentVolume(v *corev1.PersistentVolume) {
	kind.SetDefault(&v.Status.Phase, corev1.VolumePending)
	kind.SetDefault(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	kind.SetDefaultPointer(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	podspec.DefaultVolumeSpec(&v.Spec)
}
