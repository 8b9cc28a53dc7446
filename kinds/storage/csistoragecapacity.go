package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func csiStorageCapacities() *registry.Resource {
	return kind.Definition{
		GroupVersion: storagev1.SchemeGroupVersion,
		Object:       &storagev1.CSIStorageCapacity{},
		List:         &storagev1.CSIStorageCapacityList{},
		Resource:     "csistoragecapacities",
		Finalizers:   kind.Finalizers,
		Namespaced:   true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateCapacity)},
			Update: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateCapacityUpdate)},
		},
	}.Build()
}
