package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func persistentVolumes() *registry.Resource {
	return kind.Definition[*corev1.PersistentVolume]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.PersistentVolume{},
		List:                     &corev1.PersistentVolumeList{},
		Resource:                 "persistentvolumes",
		ShortNames:               []string{"pv"},
		Status:                   true,
		Default:                  defaultPersistentVolume,
		Warnings:                 warnOfVolume,
		PrepareForCreate:         prepareVolume,
		ValidateCreate:           validateVolume,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateVolumeUpdate,
		ReturnDeletedObject:      true,
		PrepareForStatusUpdate:   stampPhase,
		ValidateStatusUpdate:     func(v, _ *corev1.PersistentVolume) field.ErrorList { return kind.Finalizers(v) },
		Columns:                  volumeColumns(),
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

func volumeColumns() []kind.Column[*corev1.PersistentVolume] {
	spec, status := corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeStatus{}.SwaggerDoc()
	return []kind.Column[*corev1.PersistentVolume]{
		kind.NameColumn[*corev1.PersistentVolume](),
		{
			Name:        "Capacity",
			Description: spec["capacity"],
			Cell: func(v *corev1.PersistentVolume) any {
				capacity := v.Spec.Capacity[corev1.ResourceStorage]
				return capacity.String()
			},
		},
		{
			Name:        "Access Modes",
			Description: spec["accessModes"],
			Cell:        func(v *corev1.PersistentVolume) any { return accessModesCell(v.Spec.AccessModes) },
		},
		{
			Name:        "Reclaim Policy",
			Description: spec["persistentVolumeReclaimPolicy"],
			Cell:        func(v *corev1.PersistentVolume) any { return string(v.Spec.PersistentVolumeReclaimPolicy) },
		},
		{
			Name:        "Status",
			Description: status["phase"],
			Cell:        func(v *corev1.PersistentVolume) any { return phaseCell(v, string(v.Status.Phase)) },
		},
		{
			Name:        "Claim",
			Description: spec["claimRef"],
			Cell:        func(v *corev1.PersistentVolume) any { return claimRefCell(v.Spec.ClaimRef) },
		},
		{
			Name:        "StorageClass",
			Description: "StorageClass of the pv",
			Cell:        func(v *corev1.PersistentVolume) any { return storageClassCell(v.Annotations, v.Spec.StorageClassName) },
		},
		{
			Name:        "VolumeAttributesClass",
			Description: "VolumeAttributesClass of the pv",
			Cell:        func(v *corev1.PersistentVolume) any { return unsetCell(v.Spec.VolumeAttributesClassName) },
		},
		{
			Name:        "Reason",
			Description: status["reason"],
			Cell:        func(v *corev1.PersistentVolume) any { return v.Status.Reason },
		},
		kind.AgeColumn[*corev1.PersistentVolume](),
		{
			Name: "VolumeMode", Priority: kind.Wide,
			Description: spec["volumeMode"],
			Cell:        func(v *corev1.PersistentVolume) any { return volumeModeCell(v.Spec.VolumeMode) },
		},
	}
}

func claimRefCell(ref *corev1.ObjectReference) string {
	if ref == nil {
		return ""
	}
	return ref.Namespace + "/" + ref.Name
}

// phaseCell returns the phase of a volume or a claim, or Terminating once it is deleted.
func phaseCell(obj metav1.Object, phase string) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}
