package storage

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func storageClasses() *registry.Resource {
	doc := storagev1.StorageClass{}.SwaggerDoc()
	return kind.Definition{
		GroupVersion: storagev1.SchemeGroupVersion,
		Object:       &storagev1.StorageClass{},
		List:         &storagev1.StorageClassList{},
		Resource:     "storageclasses",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultStorageClass),
		ShortNames:   []string{"sc"},
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateStorageClass), Warnings: kind.WarnCreate(warnOfTopologies)},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Validate:           kind.CheckUpdate(validateStorageClassUpdate),
				Warnings:           kind.WarnAgain(warnOfTopologies),
			},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Provisioner", "string", doc["provisioner"]),
				kind.Column("ReclaimPolicy", "string", doc["reclaimPolicy"]),
				kind.Column("VolumeBindingMode", "string", doc["volumeBindingMode"]),
				kind.Column("AllowVolumeExpansion", "string", doc["allowVolumeExpansion"]),
				kind.AgeColumn(),
			},
			Row: kind.Row(storageClassRow),
		},
	}.Build()
}

func storageClassRow(class *storagev1.StorageClass) []any {
	mark := defaultMark(class, "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	return []any{
		class.Name + mark,
		class.Provisioner,
		string(ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)),
		string(ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate)),
		ptr.Deref(class.AllowVolumeExpansion, false),
		kind.Age(class.CreationTimestamp),
	}
}
