package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func volumeAttachments(features *feature.Set) *registry.Resource {
	return kind.Definition[*storagev1.VolumeAttachment]{
		GroupVersion:         storagev1.SchemeGroupVersion,
		Object:               &storagev1.VolumeAttachment{},
		List:                 &storagev1.VolumeAttachmentList{},
		Resource:             "volumeattachments",
		GenerateNameOnUpdate: true,
		Default:              defaultVolumeAttachment,
		Status:               true,
		ValidateCreate:       validateAttachment,
		ValidateUpdate:       attachmentUpdateValidation(features),
		ReturnDeletedObject:  true,
		StatusKeepsMetadata:  true,
		ValidateStatusUpdate: attachmentStatusValidation(features),
		Columns:              volumeAttachmentColumns(),
	}.Build(features)
}

func volumeAttachmentColumns() []kind.Column[*storagev1.VolumeAttachment] {
	spec := storagev1.VolumeAttachmentSpec{}.SwaggerDoc()
	return []kind.Column[*storagev1.VolumeAttachment]{
		kind.NameColumn[*storagev1.VolumeAttachment](),
		{
			Name: "Attacher", Format: "name",
			Description: spec["attacher"],
			Cell:        func(attachment *storagev1.VolumeAttachment) any { return attachment.Spec.Attacher },
		},
		kind.TextColumn("PV", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"],
			func(attachment *storagev1.VolumeAttachment) any {
				return ptr.Deref(attachment.Spec.Source.PersistentVolumeName, "")
			}),
		kind.TextColumn("Node", spec["nodeName"],
			func(attachment *storagev1.VolumeAttachment) any { return attachment.Spec.NodeName }),
		kind.BooleanColumn("Attached", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"],
			func(attachment *storagev1.VolumeAttachment) any { return attachment.Status.Attached }),
		kind.AgeColumn[*storagev1.VolumeAttachment](),
	}
}
