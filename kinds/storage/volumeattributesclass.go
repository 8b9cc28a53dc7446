package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func volumeAttributesClasses(features *feature.Set) *registry.Resource {
	return kind.Definition[*storagev1.VolumeAttributesClass]{
		GroupVersion:             storagev1.SchemeGroupVersion,
		Object:                   &storagev1.VolumeAttributesClass{},
		List:                     &storagev1.VolumeAttributesClassList{},
		Resource:                 "volumeattributesclasses",
		GenerateNameOnUpdate:     true,
		ShortNames:               []string{"vac"},
		ValidateCreate:           validateAttributesClass,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateAttributesClassUpdate,
		ReturnDeletedObject:      true,
		Columns: []kind.Column[*storagev1.VolumeAttributesClass]{
			classNameColumn[*storagev1.VolumeAttributesClass]("volumeattributesclass.alpha.kubernetes.io/is-default-class"),
			kind.TextColumn("DriverName", kind.FieldDoc(features, "driverName is the name of the CSI driver This field is immutable.", "driverName is the name", "Name"),
				func(class *storagev1.VolumeAttributesClass) any { return class.DriverName }),
			kind.AgeColumn[*storagev1.VolumeAttributesClass](),
		},
	}.Build(features)
}
