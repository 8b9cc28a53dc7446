package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// accessModesCell shows each mode once, in the order of how much they allow.
func accessModesCell(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, m := range []struct {
		mode corev1.PersistentVolumeAccessMode
		name string
	}{
		{corev1.ReadWriteOnce, "RWO"},
		{corev1.ReadOnlyMany, "ROX"},
		{corev1.ReadWriteMany, "RWX"},
		{corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			short = append(short, m.name)
		}
	}
	return strings.Join(short, ",")
}

// storageClassCell prefers the annotation of old clients, as binding does.
func storageClassCell(annotations map[string]string, class string) string {
	if name, ok := annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return class
}

// unsetCell shows an optional string.
func unsetCell(s *string) string {
	if s == nil {
		return "<unset>"
	}
	return *s
}

func volumeModeCell(mode *corev1.PersistentVolumeMode) string {
	if mode == nil {
		return "<unset>"
	}
	return string(*mode)
}
