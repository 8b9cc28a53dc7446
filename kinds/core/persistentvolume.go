package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func persistentVolumes(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.PersistentVolume]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.PersistentVolume{},
		List:                     &corev1.PersistentVolumeList{},
		Resource:                 "persistentvolumes",
		GenerateNameOnUpdate:     true,
		ShortNames:               []string{"pv"},
		Status:                   true,
		Default:                  defaultPersistentVolume,
		Warnings:                 warningsForVolume,
		PrepareForCreate:         prepareVolume,
		ValidateCreate:           validateVolume,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateVolumeUpdate,
		ReturnDeletedObject:      true,
		PrepareForStatusUpdate:   stampPhase,
		// A status has no rules, but finalizers are validated.
		ValidateStatusUpdate: func(_, _ *corev1.PersistentVolume) field.ErrorList { return nil },
		Columns:              volumeColumns(),
	}.Build(features)
}

func prepareVolume(ctx context.Context, v *corev1.PersistentVolume) {
	v.Status.Phase = corev1.VolumePending
	v.Status.LastPhaseTransitionTime = new(metav1.NewTime(registry.Now(ctx)))
}

// stampPhase sets the time of the last phase transition, unless the client does.
func stampPhase(ctx context.Context, v, old *corev1.PersistentVolume) {
	now, was := &v.Status, &old.Status
	switch {
	case now.Phase == was.Phase && now.LastPhaseTransitionTime == nil:
		now.LastPhaseTransitionTime = was.LastPhaseTransitionTime
	case now.Phase != was.Phase && (now.LastPhaseTransitionTime == nil || now.LastPhaseTransitionTime.Equal(was.LastPhaseTransitionTime)):
		now.LastPhaseTransitionTime = new(metav1.NewTime(registry.Now(ctx)))
	}
}
