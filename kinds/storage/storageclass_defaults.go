package storage

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultStorageClass(class *storagev1.StorageClass) {
	kind.SetDefaultPointer(&class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	kind.SetDefaultPointer(&class.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}
