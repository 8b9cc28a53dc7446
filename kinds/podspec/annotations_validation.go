package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateAnnotations validates the annotations of a pod that a cluster interprets.
func ValidateAnnotations(annotations map[string]string, spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		value := annotations[key]
		container, appArmor := strings.CutPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
		switch {
		case key == corev1.MirrorPodAnnotationKey && spec.NodeName == "":
			errs = append(errs, field.Invalid(at.Key(key), value, "must set spec.nodeName if mirror pod annotation is set"))
		case key == corev1.PodDeletionCost && !isCost(value):
			errs = append(errs, field.Invalid(at.Key(key), value, "must be a 32bit integer"))
		case key == corev1.SeccompPodAnnotationKey, strings.HasPrefix(key, corev1.SeccompContainerAnnotationKeyPrefix):
			errs = append(errs, validateSeccompAnnotation(value, at.Child(key))...)
		case appArmor:
			errs = append(errs, validateAppArmorAnnotation(value, container, spec, at.Key(key))...)
		}
	}
	return errs
}

// isCost rejects signs and leading zeros that ParseInt accepts.
func isCost(value string) bool {
	_, err := strconv.ParseInt(value, 10, 32)
	return err == nil && (value == "0" || value[0] == '-' || value[0] >= '1' && value[0] <= '9')
}

func validateSeccompAnnotation(value string, at *field.Path) field.ErrorList {
	file, local := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix)
	switch {
	case local:
		return validateDescending(file, at)
	case value == corev1.SeccompProfileRuntimeDefault, value == corev1.DeprecatedSeccompProfileDockerDefault,
		value == corev1.SeccompProfileNameUnconfined:
		return nil
	default:
		return field.ErrorList{field.Invalid(at, value, "must be a valid seccomp profile")}
	}
}

func validateAppArmorAnnotation(value, container string, spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) { found = found || c.Name == container })
	if !found {
		errs = append(errs, field.Invalid(at, container, "container not found"))
	}
	switch {
	case value == "", value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault, value == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
	case !strings.HasPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix):
		errs = append(errs, field.Invalid(at, value, fmt.Sprintf("invalid AppArmor profile name: %q", value)))
	}
	return errs
}

// ValidateProfiles requires the same profiles in the annotations and the fields of new pods and
// templates.
func ValidateProfiles(annotations map[string]string, spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	if len(annotations) == 0 {
		return nil
	}
	var errs field.ErrorList
	compare := func(key string, field profile, at *field.Path) {
		if value, ok := annotations[key]; ok && field.kind != "" {
			errs = append(errs, field.compare(value, at)...)
		}
	}
	compare(corev1.SeccompPodAnnotationKey, podSeccomp(spec), at.Child("securityContext", "seccompProfile"))
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil {
			compare(corev1.SeccompContainerAnnotationKeyPrefix+c.Name, seccompProfile(c.SecurityContext.SeccompProfile), at.Child("securityContext", "seccompProfile"))
		}
	})
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return errs
	}
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		compare(corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+c.Name, appArmorProfile(spec, c), at.Child("securityContext", "appArmorProfile"))
	})
	return errs
}

// profile is an AppArmor or seccomp profile in a field. Both use the same words, in fields and in
// annotations.
type profile struct {
	system string
	kind   string // "": none
	file   *string
}

func podSeccomp(spec *corev1.PodSpec) profile {
	if spec.SecurityContext == nil {
		return profile{}
	}
	return seccompProfile(spec.SecurityContext.SeccompProfile)
}

func seccompProfile(p *corev1.SeccompProfile) profile {
	if p == nil {
		return profile{}
	}
	return profile{"seccomp", string(p.Type), p.LocalhostProfile}
}

// appArmorProfile returns the profile of the container, or of the pod if the container has none.
func appArmorProfile(spec *corev1.PodSpec, c *corev1.Container) profile {
	p := (*corev1.AppArmorProfile)(nil)
	if spec.SecurityContext != nil {
		p = spec.SecurityContext.AppArmorProfile
	}
	if c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
		p = c.SecurityContext.AppArmorProfile
	}
	if p == nil {
		return profile{}
	}
	return profile{"apparmor", string(p.Type), p.LocalhostProfile}
}

func (p profile) compare(annotation string, at *field.Path) field.ErrorList {
	file, local := strings.CutPrefix(annotation, corev1.SeccompLocalhostProfileNamePrefix)
	same := true
	switch p.kind {
	case string(corev1.SeccompProfileTypeUnconfined):
		same = annotation == corev1.SeccompProfileNameUnconfined
	case string(corev1.SeccompProfileTypeRuntimeDefault):
		same = annotation == corev1.SeccompProfileRuntimeDefault ||
			p.system == "seccomp" && annotation == corev1.DeprecatedSeccompProfileDockerDefault
	case string(corev1.SeccompProfileTypeLocalhost):
		same = local
		if same && (p.file == nil || *p.file != file) {
			return field.ErrorList{field.Forbidden(at.Child("localhostProfile"), p.system+" profile in annotation and field must match")}
		}
	}
	if same {
		return nil
	}
	return field.ErrorList{field.Forbidden(at.Child("type"), p.system+" type in annotation and field must match")}
}
