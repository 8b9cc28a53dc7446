package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func persistentVolumeClaims() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.PersistentVolumeClaim{},
		List:         &corev1.PersistentVolumeClaimList{},
		Resource:     "persistentvolumeclaims",
		ShortNames:   []string{"pvc"},
		Namespaced:   true,
		Status:       true,
		Default:      kind.Defaults(podspec.DefaultClaim),
		Restore:      kind.Defaults(restoreClaim),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  kind.OnCreate(prepareClaim),
				Validate: kind.CheckCreate(validateClaim), Warnings: kind.WarnCreate(warnOfClaim),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            kind.OnUpdate(prepareClaimUpdate),
				Validate:           kind.CheckUpdate(validateClaimUpdate), Warnings: kind.WarnAgain(warnOfClaim),
			},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateClaimStatus)},
		Columns:        registry.Columns{Definitions: claimColumns(), Row: kind.Row(claimRow)},
	}.Build()
}

func claimColumns() []metav1.TableColumnDefinition {
	spec, status := corev1.PersistentVolumeClaimSpec{}.SwaggerDoc(), corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Status", "string", status["phase"]),
		kind.Column("Volume", "string", spec["volumeName"]),
		kind.Column("Capacity", "string", status["capacity"]),
		kind.Column("Access Modes", "string", status["accessModes"]),
		kind.Column("StorageClass", "string", "StorageClass of the pvc"),
		kind.Column("VolumeAttributesClass", "string", "VolumeAttributesClass of the pvc"),
		kind.AgeColumn(),
		kind.WideColumn("VolumeMode", "string", spec["volumeMode"]),
	}
}

func claimRow(c *corev1.PersistentVolumeClaim) []any {
	phase := string(c.Status.Phase)
	if c.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	capacity, modes := "", ""
	if c.Spec.VolumeName != "" {
		modes = accessModesCell(c.Status.AccessModes)
		storage := c.Status.Capacity[corev1.ResourceStorage]
		capacity = storage.String()
	}
	class := ""
	if c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	return []any{
		c.Name, phase, c.Spec.VolumeName, capacity, modes, storageClassCell(c.Annotations, class),
		unsetCell(c.Spec.VolumeAttributesClassName), kind.Age(c.CreationTimestamp), volumeModeCell(c.Spec.VolumeMode),
	}
}
