package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func csiNodes(features *feature.Set) *registry.Resource {
	return kind.Definition[*storagev1.CSINode]{
		GroupVersion:         storagev1.SchemeGroupVersion,
		Object:               &storagev1.CSINode{},
		List:                 &storagev1.CSINodeList{},
		Resource:             "csinodes",
		GenerateNameOnUpdate: true,
		ValidateCreate:       validateNode,
		ValidateUpdate:       validateNodeUpdate,
		ReturnDeletedObject:  true,
		GatedFields:          kind.Gated(feature.CSIVolumeHealth, "status.storageHealth"),
		Status:               features.Enabled(feature.CSINodeStatus),
		StatusKeepsMetadata:  true,
		ValidateStatusUpdate: validateNodeStatus,
		Columns: kind.StandardColumns(
			kind.IntegerColumn("Drivers", "Drivers indicates the number of CSI drivers registered on the node",
				func(node *storagev1.CSINode) any { return int64(len(node.Spec.Drivers)) }),
		),
	}.Build(features)
}
