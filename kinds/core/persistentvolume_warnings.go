package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func warningsForClass(annotations map[string]string) []string {
	if _, ok := annotations[corev1.BetaStorageClassAnnotation]; !ok {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(corev1.BetaStorageClassAnnotation)
	return []string{at.String() + `: deprecated since v1.8; use "storageClassName" attribute instead`}
}

func warningsForVolume(v *corev1.PersistentVolume) []string {
	return append(warningsForClass(v.Annotations), podspec.VolumeWarnings(&v.Spec, field.NewPath("spec"))...)
}
