package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func persistentVolumes() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.PersistentVolume{},
		List:         &corev1.PersistentVolumeList{},
		Resource:     "persistentvolumes",
		ShortNames:   []string{"pv"},
		Status:       true,
		Default:      kind.Defaults(defaultPersistentVolume),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  kind.OnCreate(prepareVolume),
				Validate: kind.CheckCreate(validateVolume), Warnings: kind.WarnCreate(warnOfVolume),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Validate:           kind.CheckUpdate(validateVolumeUpdate), Warnings: kind.WarnAgain(warnOfVolume),
			},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		StatusStrategy: registry.UpdateStrategy{
			Prepare:  kind.OnUpdate(stampPhase),
			Validate: kind.CheckAgain(func(v *corev1.PersistentVolume) field.ErrorList { return kind.Finalizers(v) }),
		},
		Columns: registry.Columns{Definitions: volumeColumns(), Row: kind.Row(volumeRow)},
	}.Build()
}

func prepareVolume(v *corev1.PersistentVolume) {
	v.Status.Phase = corev1.VolumePending
	v.Status.LastPhaseTransitionTime = new(metav1.Now())
}

// stampPhase notes when the phase changed, unless the client did.
func stampPhase(v, old *corev1.PersistentVolume) {
	now, was := &v.Status, &old.Status
	switch {
	case now.Phase == was.Phase && now.LastPhaseTransitionTime == nil:
		now.LastPhaseTransitionTime = was.LastPhaseTransitionTime
	case now.Phase != was.Phase && (now.LastPhaseTransitionTime == nil || now.LastPhaseTransitionTime.Equal(was.LastPhaseTransitionTime)):
		now.LastPhaseTransitionTime = new(metav1.Now())
	}
}

func volumeColumns() []metav1.TableColumnDefinition {
	spec, status := corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeStatus{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Capacity", "string", spec["capacity"]),
		kind.Column("Access Modes", "string", spec["accessModes"]),
		kind.Column("Reclaim Policy", "string", spec["persistentVolumeReclaimPolicy"]),
		kind.Column("Status", "string", status["phase"]),
		kind.Column("Claim", "string", spec["claimRef"]),
		kind.Column("StorageClass", "string", "StorageClass of the pv"),
		kind.Column("VolumeAttributesClass", "string", "VolumeAttributesClass of the pv"),
		kind.Column("Reason", "string", status["reason"]),
		kind.AgeColumn(),
		kind.WideColumn("VolumeMode", "string", spec["volumeMode"]),
	}
}

func volumeRow(v *corev1.PersistentVolume) []any {
	claim := ""
	if ref := v.Spec.ClaimRef; ref != nil {
		claim = ref.Namespace + "/" + ref.Name
	}
	phase := string(v.Status.Phase)
	if v.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	capacity := v.Spec.Capacity[corev1.ResourceStorage]
	return []any{
		v.Name, capacity.String(), accessModesCell(v.Spec.AccessModes), string(v.Spec.PersistentVolumeReclaimPolicy),
		phase, claim, storageClassCell(v.Annotations, v.Spec.StorageClassName), unsetCell(v.Spec.VolumeAttributesClassName),
		v.Status.Reason, kind.Age(v.CreationTimestamp), volumeModeCell(v.Spec.VolumeMode),
	}
}
