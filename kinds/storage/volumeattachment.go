package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func volumeAttachments() *registry.Resource {
	return kind.Definition{
		GroupVersion: storagev1.SchemeGroupVersion,
		Object:       &storagev1.VolumeAttachment{},
		List:         &storagev1.VolumeAttachmentList{},
		Resource:     "volumeattachments",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultVolumeAttachment),
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateAttachment)},
			Update: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateAttachmentUpdate)},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		StatusStrategy: kind.CheckedStatus(kind.CheckUpdate(validateAttachmentUpdate)),
		Columns:        registry.Columns{Definitions: volumeAttachmentColumns(), Row: kind.Row(volumeAttachmentRow)},
	}.Build()
}

func volumeAttachmentColumns() []metav1.TableColumnDefinition {
	spec := storagev1.VolumeAttachmentSpec{}.SwaggerDoc()
	attacher := kind.Column("Attacher", "string", spec["attacher"])
	attacher.Format = "name"
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		attacher,
		kind.Column("PV", "string", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"]),
		kind.Column("Node", "string", spec["nodeName"]),
		kind.Column("Attached", "boolean", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"]),
		kind.AgeColumn(),
	}
}

func volumeAttachmentRow(attachment *storagev1.VolumeAttachment) []any {
	return []any{
		attachment.Name,
		attachment.Spec.Attacher,
		ptr.Deref(attachment.Spec.Source.PersistentVolumeName, ""),
		attachment.Spec.NodeName,
		attachment.Status.Attached,
		kind.Age(attachment.CreationTimestamp),
	}
}
