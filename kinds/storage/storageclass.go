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
	name, inList := kind.NameColumn[*storagev1.StorageClass](), storageClassColumnsInList
	if !features.Enabled(feature.DefaultClassOfList) {
		name, inList = classNameColumn[*storagev1.StorageClass](defaultClassAnnotations()...), nil
	}
	return kind.Definition[*storagev1.StorageClass]{
		GroupVersion:             storagev1.SchemeGroupVersion,
		Object:                   &storagev1.StorageClass{},
		List:                     &storagev1.StorageClassList{},
		Resource:                 "storageclasses",
		GenerateNameOnUpdate:     true,
		Default:                  defaultStorageClass,
		ShortNames:               []string{"sc"},
		Warnings:                 warningsForTopologies,
		ValidateCreate:           validateStorageClass,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		ValidateUpdate: func(c, old *storagev1.StorageClass) field.ErrorList {
			return validateStorageClassUpdate(c, old, features)
		},
		Columns:       storageClassColumns(name),
		ColumnsInList: inList,
	}.Build(features)
}

func storageClassColumns(name kind.Column[*storagev1.StorageClass]) []kind.Column[*storagev1.StorageClass] {
	doc := storagev1.StorageClass{}.SwaggerDoc()
	return []kind.Column[*storagev1.StorageClass]{
		name,
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
	}
}

func defaultClassAnnotations() []string {
	return []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}
}

// storageClassColumnsInList returns columns with a mark on the class that claims without a class
// get: the newest one of the default classes, among equally old ones the first by name. A Table of
// one class has no mark.
func storageClassColumnsInList(list []*storagev1.StorageClass) []kind.Column[*storagev1.StorageClass] {
	var newest *storagev1.StorageClass
	for _, class := range list {
		if isDefaultClass(class, defaultClassAnnotations()) && (newest == nil || precedes(class, newest)) {
			newest = class
		}
	}
	name := kind.NameColumn[*storagev1.StorageClass]()
	name.Cell = func(class *storagev1.StorageClass) any {
		if class == newest {
			return class.Name + defaultMark
		}
		return class.Name
	}
	return storageClassColumns(name)
}

func precedes(a, b *storagev1.StorageClass) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return b.CreationTimestamp.Before(&a.CreationTimestamp)
}
