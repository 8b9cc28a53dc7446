package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateMounts(s *scope, c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	paths := sets.New[string]()
	for i := range c.VolumeMounts {
		m, at, list := &c.VolumeMounts[i], at.Index(i), at
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if s.volumes[m.Name] == nil {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if paths.Has(m.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		paths.Insert(m.MountPath)
		if slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == m.Name }) {
			errs = append(errs, field.Invalid(at.Child("name"), m.Name, "must not already exist in volumeDevices"))
		}
		if slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.DevicePath == m.MountPath }) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, validateSubPaths(m, at, list)...)
		errs = append(errs, validatePropagation(m, c, list)...)
		errs = append(errs, validateBindMountOptions(m.BindMountOptions, s.volumes[m.Name], at.Child("bindMountOptions"))...)
	}
	return errs
}

func validateBindMountOptions(options []string, volume *corev1.Volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(options) > 0 && volume != nil && volume.Image != nil {
		errs = append(errs, field.Invalid(at, options, "bindMountOptions may not be used with image volumes"))
	}
	for i, option := range options {
		errs = append(errs, kind.Supported(at.Index(i), corev1.BindMountOption(option),
			corev1.BindMountOptionNoDev, corev1.BindMountOptionNoExec, corev1.BindMountOptionNoSUID)...)
		if slices.Contains(options[:i], option) {
			errs = append(errs, field.Duplicate(at.Index(i), option))
		}
	}
	return errs
}

// validateSubPaths and the functions below report some errors at the list of mounts, as
// kube-apiserver does.
func validateSubPaths(m *corev1.VolumeMount, at, list *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m.SubPath != "" {
		errs = append(errs, validateDescending(m.SubPath, list.Child("subPath"))...)
	}
	if m.SubPathExpr == "" {
		return errs
	}
	if m.SubPath != "" {
		errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
	}
	return append(errs, validateDescending(m.SubPathExpr, list.Child("subPathExpr"))...)
}

// validatePropagation validates the mount propagation, and recursive read-only mounts.
func validatePropagation(m *corev1.VolumeMount, c *corev1.Container, list *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p := m.MountPropagation; p != nil {
		at := list.Child("mountPropagation")
		errs = append(errs, kind.Supported(at, *p,
			corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)...)
		if *p == corev1.MountPropagationBidirectional && (c.SecurityContext == nil || !isTrue(c.SecurityContext.Privileged)) {
			errs = append(errs, field.Forbidden(at, "Bidirectional mount propagation is available only to privileged containers"))
		}
	}
	if m.RecursiveReadOnly == nil {
		return errs
	}
	at := list.Child("recursiveReadOnly")
	switch *m.RecursiveReadOnly {
	case corev1.RecursiveReadOnlyDisabled:
		return errs
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
		if !m.ReadOnly {
			errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
		}
		if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
			errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
		}
		return errs
	default:
		return append(errs, kind.Supported(at, *m.RecursiveReadOnly,
			corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)...)
	}
}

// validateDevices requires claims as the volumes of devices.
func validateDevices(s *scope, c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, paths := sets.New[string](), sets.New[string]()
	for i := range c.VolumeDevices {
		d, at := &c.VolumeDevices[i], at.Index(i)
		name, path := at.Child("name"), at.Child("devicePath")
		if d.Name == "" {
			errs = append(errs, field.Required(name, ""))
		}
		if d.Name != "" && names.Has(d.Name) {
			errs = append(errs, field.Invalid(name, d.Name, "must be unique"))
		}
		names.Insert(d.Name)
		switch v := s.volumes[d.Name]; {
		case v == nil:
			errs = append(errs, field.NotFound(name, d.Name))
		case v.PersistentVolumeClaim == nil && v.Ephemeral == nil:
			errs = append(errs, field.Invalid(name, d.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		if d.DevicePath == "" {
			errs = append(errs, field.Required(path, ""))
		}
		if paths.Has(d.DevicePath) {
			errs = append(errs, field.Invalid(path, d.DevicePath, "must be unique"))
		}
		if len(validateNoBacksteps(d.DevicePath, nil)) > 0 {
			errs = append(errs, field.Invalid(path, d.DevicePath, "can not contain backsteps ('..')"))
		} else {
			paths.Insert(d.DevicePath)
		}
		errs = append(errs, validateUnmounted(d, c.VolumeMounts, at)...)
	}
	return errs
}

func validateUnmounted(d *corev1.VolumeDevice, mounts []corev1.VolumeMount, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.Name == d.Name }) {
		errs = append(errs, field.Invalid(at.Child("name"), d.Name, "must not already exist in volumeMounts"))
	}
	if slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.MountPath == d.DevicePath }) {
		errs = append(errs, field.Invalid(at.Child("devicePath"), d.DevicePath, "must not already exist as a path in volumeMounts"))
	}
	return errs
}
