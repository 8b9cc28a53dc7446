package storage

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func defaultStorageClass(class *storagev1.StorageClass) {
	kind.SetDefaultPointer(&class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	kind.SetDefaultPointer(&class.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}

func defaultCSIDriver(driver *storagev1.CSIDriver) {
	spec := &driver.Spec
	kind.SetDefaultPointer(&spec.AttachRequired, true)
	kind.SetDefaultPointer(&spec.PodInfoOnMount, false)
	kind.SetDefaultPointer(&spec.StorageCapacity, false)
	kind.SetDefaultPointer(&spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	kind.SetDefaultPointer(&spec.RequiresRepublish, false)
	kind.SetDefaultPointer(&spec.SELinuxMount, false)
	if len(spec.VolumeLifecycleModes) == 0 {
		spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
}

// defaultVolumeAttachment fills in a volume that is spelled out in place.
func defaultVolumeAttachment(attachment *storagev1.VolumeAttachment) {
	if volume := attachment.Spec.Source.InlineVolumeSpec; volume != nil {
		podspec.DefaultVolumeSpec(volume)
	}
}
