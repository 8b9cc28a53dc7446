package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultCSIDriver(features *feature.Set) func(*storagev1.CSIDriver) {
	scaling := features.Enabled(feature.VolumeLimitScaling)
	return func(driver *storagev1.CSIDriver) {
		spec := &driver.Spec
		kind.SetDefaultPointer(&spec.AttachRequired, true)
		kind.SetDefaultPointer(&spec.PodInfoOnMount, false)
		kind.SetDefaultPointer(&spec.StorageCapacity, false)
		kind.SetDefaultPointer(&spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
		kind.SetDefaultPointer(&spec.RequiresRepublish, false)
		kind.SetDefaultPointer(&spec.SELinuxMount, false)
		if scaling {
			kind.SetDefaultPointer(&spec.PreventPodSchedulingIfMissing, false)
		}
		if len(spec.VolumeLifecycleModes) == 0 {
			spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
		}
	}
}
