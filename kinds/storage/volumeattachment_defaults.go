package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultVolumeAttachment sets the defaults of an inline volume.
func defaultVolumeAttachment(attachment *storagev1.VolumeAttachment) {
	if volume := attachment.Spec.Source.InlineVolumeSpec; volume != nil {
		podspec.DefaultVolumeSpec(volume)
	}
}
