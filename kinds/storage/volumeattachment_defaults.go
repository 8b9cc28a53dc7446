package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultVolumeAttachment fills in a volume that is spelled out in place.
func defaultVolumeAttachment(attachment *storagev1.VolumeAttachment) {
	if volume := attachment.Spec.Source.InlineVolumeSpec; volume != nil {
		podspec.DefaultVolumeSpec(volume)
	}
}
