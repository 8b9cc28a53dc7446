package storage

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func storageClasses(features *feature.Set) *registry.Resource {
	doc := storagev1.StorageClass{}.SwaggerDoc()
	return kind.Definition[*storagev1.StorageClass]{
		GroupVersion:             storagev1.SchemeGroupVersion,
		Object:                   &storagev1.StorageClass{},
		List:                     &storagev1.StorageClassList{},
		Resource:                 "storageclasses",
		Default:                  defaultStorageClass,
		ShortNames:               []string{"sc"},
		Warnings:                 warningsForTopologies,
		ValidateCreate:           validateStorageClass,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		ValidateUpdate: func(c, old *storagev1.StorageClass) field.ErrorList {
			return validateStorageClassUpdate(c, old, features)
		},
		Columns: []kind.Column[*storagev1.StorageClass]{
			classNameColumn[*storagev1.StorageClass]("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"),
			kind.TextColumn("Provisioner", doc["provisioner"],
				func(class *storagev1.StorageClass) any { return class.Provisioner }),
			kind.TextColumn("ReclaimPolicy", doc["reclaimPolicy"], func(class *storagev1.StorageClass) any {
				return string(ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete))
			}),
			kind.TextColumn("VolumeBindingMode", doc["volumeBindingMode"], func(class *storagev1.StorageClass) any {
				return string(ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate))
			}),
			kind.TextColumn("AllowVolumeExpansion", doc["allowVolumeExpansion"],
				func(class *storagev1.StorageClass) any { return ptr.Deref(class.AllowVolumeExpansion, false) }),
			kind.AgeColumn[*storagev1.StorageClass](),
		},
	}.Build(features)
}
