package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func csiStorageCapacities(features *feature.Set) *registry.Resource {
	return kind.Definition[*storagev1.CSIStorageCapacity]{
		GroupVersion:         storagev1.SchemeGroupVersion,
		Object:               &storagev1.CSIStorageCapacity{},
		List:                 &storagev1.CSIStorageCapacityList{},
		Resource:             "csistoragecapacities",
		GenerateNameOnUpdate: true,
		Namespaced:           true,
		ValidateCreate:       validateCapacity,
		ValidateUpdate:       validateCapacityUpdate,
	}.Build(features)
}
