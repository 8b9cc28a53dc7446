package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func volumeAttributesClasses() *registry.Resource {
	return kind.Definition{
		GroupVersion: storagev1.SchemeGroupVersion,
		Object:       &storagev1.VolumeAttributesClass{},
		List:         &storagev1.VolumeAttributesClassList{},
		Resource:     "volumeattributesclasses",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"vac"},
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateAttributesClass)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validateAttributesClassUpdate)},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("DriverName", "string", "Name of the CSI driver This field is immutable."),
				kind.AgeColumn(),
			},
			Row: kind.Row(volumeAttributesClassRow),
		},
	}.Build()
}

func volumeAttributesClassRow(class *storagev1.VolumeAttributesClass) []any {
	mark := defaultMark(class, "volumeattributesclass.alpha.kubernetes.io/is-default-class")
	return []any{class.Name + mark, class.DriverName, kind.Age(class.CreationTimestamp)}
}
